package base

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamlerror"
)

// maxSize is far more than a cluster of 1000 static nodes takes.
const maxSize = 4 << 20

// Parse reads the only document of a file.
func Parse(file string, data []byte) (*yaml.Node, error) {
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
		return nil, yamlerror.Syntax(file, data, err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, diag.New(diag.Pos{File: file, Line: second.Line, Column: second.Column}, "a second document").
			WithHint("cluster.yaml is one document; remove the line with ---")
	case !errors.Is(err, io.EOF):
		return nil, yamlerror.Syntax(file, data, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null" {
		return nil, emptyFile(file)
	}
	if p := yamlerror.TooDeep(file, doc.Content[0]); p != nil {
		return nil, p
	}
	return doc.Content[0], nil
}

func emptyFile(file string) error {
	return diag.New(diag.Pos{File: file}, "the file is empty").
		WithHint("docs/reference/cluster.md lists what it can hold; talosgen init writes one to begin with")
}
