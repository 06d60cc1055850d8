package access

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Request is what a file is to give access with.
type Request struct {
	// The name of the context in the file.
	Context string
	// How long a new certificate is valid.
	Lifetime time.Duration
	// Whether to replace a context of that name that is of another cluster.
	Replace bool
	// The file that is to hold it: its place, for messages, and what it holds
	// now. Other contexts in it, and comments, stay.
	File     string
	Existing []byte

	Now    time.Time
	Random io.Reader
}

// File is a file with a context in it. The content holds private keys.
type File struct {
	Content secret.String
	// The private key of the context.
	Key secret.String
	// When its certificate ends.
	Expires time.Time
	// Whether the certificate was in the file already.
	Kept bool
}

// anotherCluster is the problem of a name that is taken.
func (r Request) anotherCluster() error {
	return diag.New(diag.Pos{File: r.File}, "has a context %q already, of another cluster, or of this one with other authorities", r.Context).
		WithHint("--force replaces it; --output writes to another file").WithCode(diag.Conflict)
}

// parse reads a YAML file whose top is a mapping; an empty one is an empty
// mapping. What it says of a broken one has its place, but quotes nothing: the
// file holds keys.
func (r Request) parse() (*yaml.Node, error) {
	doc := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{mapping()}}
	dec := yaml.NewDecoder(bytes.NewReader(r.Existing))
	var first, second yaml.Node
	switch err := dec.Decode(&first); {
	case errors.Is(err, io.EOF):
		return doc, nil
	case err != nil:
		return nil, r.broken(err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, diag.New(diag.Pos{File: r.File}, "holds more than one document").WithHint("%s", untouched)
	}
	switch root := first.Content[0]; {
	case root.Kind == yaml.MappingNode:
		return &first, nil
	case root.ShortTag() == "!!null":
		first.Content[0] = doc.Content[0]
		return &first, nil
	}
	return nil, diag.New(diag.Pos{File: r.File, Line: first.Content[0].Line}, "is not a mapping").WithHint("%s", untouched)
}

const untouched = "it was left as it is; --output writes to another file"

func (r Request) broken(err error) error {
	pos := diag.Pos{File: r.File}
	var load *yaml.LoadError
	if errors.As(err, &load) {
		pos.Line, pos.Column = load.Mark.Line, load.Mark.Column
	}
	return diag.New(pos, "is not valid YAML").WithHint("%s", untouched).WithCause(err)
}

// style is how a file is laid out.
type style struct {
	indent  int
	compact bool // lists are not indented in mappings
}

var (
	indentation = regexp.MustCompile(`(?m)^( +)[^ #\n]`)
	compactList = regexp.MustCompile(`(?m)^( *)[\w-]+:\n( *)- `)
)

// encode writes a document in the layout of the file that it came from, or else
// in the one given.
func (r Request) encode(doc *yaml.Node, s style) (secret.String, error) {
	if all := indentation.FindAllSubmatch(r.Existing, -1); all != nil {
		least := slices.MinFunc(all, func(a, b [][]byte) int { return len(a[1]) - len(b[1]) })
		s.indent = max(2, min(len(least[1]), 8))
	}
	if m := compactList.FindSubmatch(r.Existing); m != nil {
		s.compact = len(m[1]) == len(m[2])
	}
	text, err := yaml.Dump(doc, yaml.WithV3Defaults(), yaml.WithIndent(s.indent), yaml.WithCompactSeqIndent(s.compact), yaml.WithLineWidth(-1))
	return secret.New(string(text)), err
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func scalar(value string) *yaml.Node {
	var n yaml.Node
	n.SetString(value)
	return &n
}

func sequence(values []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, v := range values {
		n.Content = append(n.Content, scalar(v))
	}
	return n
}

// get returns the value of a key of a mapping, or nil.
func get(m *yaml.Node, key string) *yaml.Node {
	if m == nil || m.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// text is the value of a key that is a scalar.
func text(m *yaml.Node, key string) string {
	if n := get(m, key); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// set gives a key a value. The comments of an old value stay.
func set(m *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			old := m.Content[i+1]
			value.HeadComment, value.LineComment, value.FootComment = old.HeadComment, old.LineComment, old.FootComment
			m.Content[i+1] = value
			return
		}
	}
	m.Content = append(m.Content, scalar(key), value)
}

// remove takes keys away.
func remove(m *yaml.Node, keys ...string) {
	for i := 0; i+1 < len(m.Content); {
		if slices.Contains(keys, m.Content[i].Value) {
			m.Content = slices.Delete(m.Content, i, i+2)
			continue
		}
		i += 2
	}
}

// child returns the mapping below a key, which it makes if there is none.
func (r Request) child(m *yaml.Node, key string) (*yaml.Node, error) {
	n := get(m, key)
	switch {
	case n == nil || n.ShortTag() == "!!null":
		n = mapping()
		set(m, key, n)
	case n.Kind != yaml.MappingNode:
		return nil, diag.New(diag.Pos{File: r.File, Line: n.Line, Column: n.Column}, "%s is not a mapping", key).WithHint("%s", untouched)
	}
	if len(n.Content) == 0 {
		n.Style = 0 // {} is no example of how to write it
	}
	return n, nil
}

func encode64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// decode64 returns nothing for what is not base64: then it is nothing that could
// be kept.
func decode64(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return data
}

// identity keeps what is in the file, if it can be kept, or signs a new one.
func (r Request) identity(a *Authority, who Subject, kind KeyType, certificate, key string) (Identity, bool, error) {
	if err := a.CheckTime(r.Now); err != nil {
		return Identity{}, false, err
	}
	if have, ok := a.Usable(decode64(certificate), decode64(key), who, r.Lifetime, r.Now); ok {
		return have, true, nil
	}
	made, err := a.Sign(who, kind, r.Lifetime, r.Now, r.Random)
	return made, false, err
}

// file is the result: unless something was to change, the old content to the
// byte. To tell, the old content is written in the same way as the new one. Each
// document is written once only: writing one takes the types of its values away.
func (r Request) file(doc *yaml.Node, id Identity, kept bool, s style) (*File, error) {
	f := &File{Content: secret.New(string(r.Existing)), Key: id.Key, Expires: id.Expires, Kept: kept}
	after, err := r.encode(doc, s)
	if err != nil {
		return nil, err
	}
	old, err := r.parse()
	if err != nil {
		return nil, err
	}
	before, err := r.encode(old, s)
	if after != before {
		f.Content = after
	}
	return f, err
}
