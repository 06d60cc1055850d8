package config

import (
	"maps"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/base"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// document is a cluster.yaml, laid over its bases, with its variables.
type document struct {
	root           *yaml.Node
	secret, failed map[*yaml.Node]bool // scalars, as of [subst.Expanded]
	problems       diag.List           // with variables
}

// onLine names the line of a value beside that of another: with its file, if that is a
// base.
func onLine(c *Config, first diag.Pos) string {
	if first.File != c.file {
		return diag.Pos{File: first.File, Line: first.Line}.String()
	}
	return "line " + strconv.Itoa(first.Line)
}

// read reads a cluster.yaml and its bases, and lays them over each other. Variables are
// put in before, so that problems with them have the places in their files.
func read(file string, files Files, scope *subst.Scope) (*document, error) {
	parts, err := base.Read(file, files)
	if err != nil {
		return nil, err
	}
	doc := &document{secret: map[*yaml.Node]bool{}, failed: map[*yaml.Node]bool{}}
	for i, p := range parts {
		expanded, err := subst.ExpandNode(subst.Source{File: p.File}, p.Root, scope)
		doc.problems.AddErr(err)
		maps.Copy(doc.secret, expanded.Secret)
		maps.Copy(doc.failed, expanded.Failed)
		parts[i].Root = expanded.Doc
	}
	doc.root, err = base.Merge(parts)
	return doc, err
}
