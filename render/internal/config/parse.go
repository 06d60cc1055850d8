package config

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// maxSize is far more than a cluster of 1000 static nodes takes.
const maxSize = 4 << 20

// parse reads the only document of a file.
func parse(file string, data []byte) (*yaml.Node, error) {
	if len(data) > maxSize {
		return nil, diag.New(diag.Pos{File: file}, "the file is larger than %d MiB", maxSize>>20).
			WithHint("cluster.yaml describes a topology; large contents belong into patches")
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, emptyFile(file)
	case err != nil:
		return nil, syntaxProblem(file, data, err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, diag.New(diag.Pos{File: file, Line: second.Line, Column: second.Column}, "a second document").
			WithHint("cluster.yaml is one document; remove the line with ---")
	case !errors.Is(err, io.EOF):
		return nil, syntaxProblem(file, data, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null" {
		return nil, emptyFile(file)
	}
	return doc.Content[0], nil
}

func emptyFile(file string) error {
	return diag.New(diag.Pos{File: file}, "the file is empty").
		WithHint("docs/reference/cluster.md lists what it can hold; talosgen init writes one to begin with")
}

// syntaxProblem gives an error of the YAML library its place.
func syntaxProblem(file string, data []byte, err error) error {
	pos, message := diag.Pos{File: file}, err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		pos.Line, pos.Column, message = load.Mark.Line, load.Mark.Column, load.Message
		if load.ContextMsg != "" {
			message += ", " + load.ContextMsg
		}
	}
	p := diag.New(pos, "not valid YAML: %s", message).WithCause(err)
	if unquotedVariable(data, pos) {
		return p.WithHint(`quote a variable inside [ ] or { }: ["${NAME}"]`)
	}
	return p
}

// unquotedVariable tells whether the error is at the brace of a variable, which
// YAML takes for a mapping inside a list or mapping in brackets.
func unquotedVariable(data []byte, pos diag.Pos) bool {
	lines := bytes.Split(data, []byte("\n"))
	if pos.Line < 1 || pos.Line > len(lines) {
		return false
	}
	line := []rune(string(lines[pos.Line-1]))
	return pos.Column >= 2 && pos.Column <= len(line) && line[pos.Column-2] == '$' && line[pos.Column-1] == '{'
}
