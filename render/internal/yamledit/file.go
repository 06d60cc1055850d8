// Package yamledit changes single values of a YAML file that people write, and
// leaves every other byte of it as it is: comments, order, quotes, layout.
//
// A file is never encoded again. An edit splices text, at places that follow
// from the positions of the parsed nodes, and then the result is parsed and
// compared with the tree that the edit means. What cannot be edited that way
// (an anchor that is used elsewhere, a layout that nobody foresaw) is an error
// with its place, and never a guess.
package yamledit

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamlerror"
)

// File is a YAML file with one document. It does not change: an edit makes
// another one.
type File struct {
	splicer
	name string
	root *yaml.Node
	used map[*yaml.Node]bool // nodes with an anchor that an alias names
}

// Parse reads the text of a file; its name is for messages.
func Parse(name string, text []byte) (*File, error) {
	f := &File{splicer: splicer{extents{layout{text, lineStarts(text)}}}, name: name, used: map[*yaml.Node]bool{}}
	if !utf8.Valid(text) || bytes.ContainsAny(text, "\ufeff\u0085\u2028\u2029") || bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) {
		return nil, f.refuse(nil, "the file has characters that cannot be edited around: a byte order mark, or unusual line breaks")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlerror.Syntax(f.name, f.text, err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) || len(doc.Content) != 1 {
		return nil, f.refuse(nil, "the file is not one YAML document")
	}
	f.root = doc.Content[0]
	f.noteAliases(f.root)
	return f, nil
}

// Text is the text of the file; it is not to be changed.
func (f *File) Text() []byte { return f.text }

// refuse is the error about what is not edited.
func (f *File) refuse(at *yaml.Node, format string, args ...any) error {
	pos := diag.Pos{File: f.name}
	if at != nil {
		pos.Line, pos.Column = at.Line, at.Column
	}
	return diag.New(pos, format, args...).WithHint("edit the file by hand")
}

func (f *File) noteAliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		f.used[n.Alias] = true
		return
	}
	for _, c := range n.Content {
		f.noteAliases(c)
	}
}

// find returns the node at a path of keys and of indexes from "0", or nil.
func (f *File) find(path []string) (*yaml.Node, error) {
	n := f.root
	for _, step := range path {
		if err := f.checkAlias(n); err != nil {
			return nil, err
		}
		if n = child(n, step); n == nil {
			return nil, nil
		}
	}
	return n, f.checkAlias(n)
}

// Len is how many items the list at a path has, or keys the mapping; -1 if there
// is neither.
func (f *File) Len(path []string) int {
	n := at(f.root, path)
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		return len(n.Content)
	case n.Kind == yaml.MappingNode:
		return len(n.Content) / 2
	}
	return -1
}

// Has tells whether there is a value at a path.
func (f *File) Has(path []string) bool { return at(f.root, path) != nil }

// Deletes tells whether what is at a path takes away what a lower file has.
func (f *File) Deletes(path []string) bool {
	n := at(f.root, path)
	return n != nil && n.Tag == "!delete"
}

// Scalar is the text of the scalar at a path, without quotes, and whether there
// is one.
func (f *File) Scalar(path []string) (string, bool) {
	n := at(f.root, path)
	if n == nil || n.Kind != yaml.ScalarNode {
		return "", false
	}
	return n.Value, true
}

// child returns the value of a key, or an item.
func child(n *yaml.Node, step string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		if i := keyIndex(n, step); i >= 0 {
			return n.Content[i+1]
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// keyIndex is where a key is in the content of a mapping, or -1.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// checkAlias refuses what a change would change in two places.
func (f *File) checkAlias(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return f.refuse(n, "*%s stands for what is written elsewhere, which would change too", n.Value)
	case f.used[n]:
		return f.refuse(n, "&%s is used elsewhere, which would change too", n.Anchor)
	}
	return nil
}
