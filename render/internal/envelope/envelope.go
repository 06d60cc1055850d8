// Package envelope writes the documents of a node into one file with the
// secret values encrypted, and reads such files. It owns the layout: which
// bytes are replaced, where the marker comment and the sops block go. What an
// encrypted value looks like is the business of the cipher that is passed in.
package envelope

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// Marker is the comment behind an encrypted value. SOPS encrypts and decrypts
// what it stands behind.
const Marker = " # secret"

const separator = "---\n"

// Document is a document to be written: its text, the leaves in it, and which
// of them are secret.
type Document struct {
	Text   []byte
	Leaves []yamltext.Leaf
	Secret []bool
	// Unmarked leaves the marker out: what tells which values are encrypted is
	// where they are.
	Unmarked bool
}

// Cipher encrypts the values of one file, in the order of the file.
type Cipher interface {
	// Encrypt returns the scalar that takes the place of a value. The path
	// holds the keys that lead to it, without indexes.
	Encrypt(path []string, value string, kind yamltext.Kind) (string, error)
	// Block returns the sops block, after the last value.
	Block() []byte
}

// Seal writes documents into one file. The sops block goes to the end of the
// first document; a file without secrets has none.
func Seal(docs []Document, c Cipher) ([]byte, error) {
	var file bytes.Buffer
	block := -1
	encrypted := false
	for i, d := range docs {
		if i > 0 {
			file.WriteString(separator)
		}
		found, err := sealDocument(&file, d, c)
		if err != nil {
			return nil, err
		}
		encrypted = encrypted || found
		if block < 0 {
			block = file.Len()
		}
	}
	if !encrypted {
		return file.Bytes(), nil
	}
	out := make([]byte, 0, file.Len()+2048)
	out = append(out, file.Bytes()[:block]...)
	out = append(out, c.Block()...)
	return append(out, file.Bytes()[block:]...), nil
}

func sealDocument(file *bytes.Buffer, d Document, c Cipher) (encrypted bool, err error) {
	written := 0
	var path []string
	for i := range d.Leaves {
		if !d.Secret[i] {
			continue
		}
		l := &d.Leaves[i]
		path = keys(path[:0], l.Path)
		value, kind := plain(l)
		text, err := c.Encrypt(path, value, kind)
		if err != nil {
			return false, err
		}
		file.Write(d.Text[written:l.ValueStart])
		file.WriteString(text + d.marker() + "\n")
		written = l.End
		encrypted = true
	}
	file.Write(d.Text[written:])
	if n := len(d.Text); n > 0 && d.Text[n-1] != '\n' && written < n {
		file.WriteByte('\n')
	}
	return encrypted, nil
}

func (d *Document) marker() string {
	if d.Unmarked {
		return ""
	}
	return Marker
}

// plain gives a value the type and the spelling under which it is encrypted.
// SOPS knows numbers and booleans in their plain spelling only: 0o600 is
// encrypted as the number 384, so that it is a number still when sops has
// decrypted it.
func plain(l *yamltext.Leaf) (string, yamltext.Kind) {
	switch l.Kind {
	case yamltext.Int:
		if n, err := strconv.ParseInt(strings.ReplaceAll(l.Value, "_", ""), 0, 64); err == nil {
			return strconv.FormatInt(n, 10), yamltext.Int
		}
	case yamltext.Bool:
		return strings.ToLower(l.Value), yamltext.Bool
	case yamltext.Float:
		f, err := strconv.ParseFloat(strings.ReplaceAll(l.Value, "_", ""), 64)
		if err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return strconv.FormatFloat(f, 'f', -1, 64), yamltext.Float
		}
	}
	return l.Value, yamltext.String
}

// Keys are the keys of a path, without indexes.
func Keys(path yamltext.Path) []string { return keys(nil, path) }

func keys(to []string, path yamltext.Path) []string {
	for _, e := range path {
		if e.Index < 0 {
			to = append(to, e.Key)
		}
	}
	return to
}

// Leaf is a value of a file that was read: of which document, and decrypted.
type Leaf struct {
	Document int
	Path     yamltext.Path
	Value    string
	Kind     yamltext.Kind
	Secret   bool
	Line     int // in the document
}

// Opener decrypts the values of one file, in the order of the file.
type Opener interface {
	Decrypt(path []string, encrypted string) (value string, kind yamltext.Kind, err error)
}

// errBlock says that a file's block does not stand where it is written.
var errBlock = errors.New("the sops block is not at the end of the first document")

// Open reads the leaves of a file. blockStart and blockEnd are the place of the
// sops block, which is left out; -1 if there is none. Without an opener secret
// values stay as they are.
func Open(file []byte, blockStart, blockEnd int, isEncrypted func(string) bool, o Opener) ([]Leaf, error) {
	if blockStart >= 0 {
		if blockStart > blockEnd || blockEnd > len(file) {
			return nil, errBlock
		}
		file = append(file[:blockStart:blockStart], file[blockEnd:]...)
	}
	var leaves []Leaf
	var path []string
	for i, doc := range yamltext.Split(file) {
		found, err := yamltext.Leaves(doc)
		if err != nil {
			return nil, err
		}
		for j := range found {
			l := &found[j]
			leaf := Leaf{Document: i, Path: l.Path, Value: l.Value, Kind: l.Kind, Line: l.Line}
			if leaf.Secret = l.Style == 0 && isEncrypted(l.Value); leaf.Secret && o != nil {
				path = keys(path[:0], l.Path)
				if leaf.Value, leaf.Kind, err = o.Decrypt(path, l.Value); err != nil {
					return nil, err
				}
			}
			leaves = append(leaves, leaf)
		}
	}
	return leaves, nil
}
