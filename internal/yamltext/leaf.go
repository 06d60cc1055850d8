// Package yamltext reads block-style YAML as text, leaf by leaf: where each
// scalar stands in the bytes, under which path, and what it says.
//
// Rendered machine configurations are encoded by Talos' library, and talosgen
// then has to encrypt some of their scalars, compare others, and leave every
// other byte as it is. Building a tree of nodes for that, and printing it
// again, costs more than everything else in a render together. Encoded
// configurations use a small part of YAML (block collections, plain and quoted
// scalars on one line, literal blocks), so one pass over the lines is enough.
// What lies outside of that part is never guessed at: [Scan] answers
// [ErrUnsupported], and [Normalize] rewrites the document within it.
package yamltext

import (
	"errors"
	"strconv"
	"strings"
)

// ErrUnsupported says that a document uses YAML outside of the part that
// [Scan] reads.
var ErrUnsupported = errors.New("YAML outside of what is read as text")

// Kind is the type that a scalar resolves to in YAML's core schema.
type Kind uint8

// Kinds of leaves. Empty collections are leaves too.
const (
	String Kind = iota
	Int
	Float
	Bool
	Null
	EmptyMap
	EmptySequence
)

// Elem is one step of a path: a key of a mapping, or an index of a sequence.
type Elem struct {
	Key   string
	Index int // -1 for a key
}

// Path leads from the root of a document to a leaf.
type Path []Elem

// Key makes a step into a mapping.
func Key(k string) Elem { return Elem{Key: k, Index: -1} }

// Index makes a step into a sequence.
func Index(i int) Elem { return Elem{Index: i} }

// String prints machine.network.interfaces[0].mtu; keys that hold other
// characters than those of a name are quoted: labels."a.b/c".
func (p Path) String() string {
	var b strings.Builder
	for i, e := range p {
		switch {
		case e.Index >= 0:
			b.WriteString("[" + strconv.Itoa(e.Index) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		if isName(e.Key) {
			b.WriteString(e.Key)
		} else {
			b.WriteString(strconv.Quote(e.Key))
		}
	}
	return b.String()
}

// Pattern prints the path with every index left out: machine.interfaces[].mtu.
// It stays the same when items are added in front.
func (p Path) Pattern() string {
	var b []byte
	return string(p.AppendPattern(b))
}

// AppendPattern appends [Path.Pattern] to b. Keys are not quoted; a zero byte
// ends each, so that different paths never give the same pattern.
func (p Path) AppendPattern(b []byte) []byte {
	for _, e := range p {
		if e.Index >= 0 {
			b = append(b, "[]\x00"...)
			continue
		}
		b = append(b, e.Key...)
		b = append(b, 0)
	}
	return b
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// Leaf is a scalar or an empty collection of a document.
type Leaf struct {
	Path  Path
	Kind  Kind
	Value string // decoded; "" for Null and empty collections
	Style byte   // ' and " for quoted, | for literal, 0 for plain

	// Offsets into the text. The leaf's lines are text[Start:End], with the
	// newline; the value begins at ValueStart, in the first of them.
	Start, ValueStart, End int
	// Column of the leaf's key, or of its dash in a sequence of scalars.
	Column int
	// Dashed says that the leaf's key stands behind a dash: the first key of a
	// mapping in a sequence.
	Dashed bool
	Line   int // from 1
}

// IsZero reports whether the leaf says nothing: null, "", 0, or an empty
// collection. Talos' merge ignores most of those.
func (l *Leaf) IsZero() bool {
	switch l.Kind {
	case String:
		return l.Value == ""
	case Int:
		return l.Value == "0"
	case Float:
		f, err := strconv.ParseFloat(l.Value, 64)
		return err == nil && f == 0
	case Bool:
		return false
	default:
		return true
	}
}
