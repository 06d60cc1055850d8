// Package nodefile lets a node of a YAML tree know the file that it was read from. A
// tree that is merged of several files has nodes of each, and [yaml.Node] has a line
// and no file.
//
// The name is kept in the field that only an alias uses, so copies of a node keep it,
// and whatever encodes or decodes the tree passes over it.
package nodefile

import (
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Mark tells all nodes of a tree which file they are of.
func Mark(n *yaml.Node, file string) { mark(n, named(file)) }

func mark(n, name *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		return // what it stands for is in the same file
	}
	n.Alias = name
	for _, c := range n.Content {
		mark(c, name)
	}
}

// names are the nodes that hold the names of files: few files, and many nodes.
var names sync.Map

func named(file string) *yaml.Node {
	if known, ok := names.Load(file); ok {
		return known.(*yaml.Node)
	}
	known, _ := names.LoadOrStore(file, &yaml.Node{Value: file})
	return known.(*yaml.Node)
}

// Set tells one node, which is no alias, the file of a place. What has no file, or the
// one that everything around it has, need not be told.
func Set(n *yaml.Node, at diag.Pos) *yaml.Node {
	if at.File != "" {
		n.Alias = named(at.File)
	}
	return n
}

// Of is the file of a node; that of everything around it, if it was not told another, or
// is none.
func Of(n *yaml.Node, around string) string {
	switch {
	case n == nil:
		return around
	case n.Kind == yaml.AliasNode && n.Alias != nil:
		return Of(n.Alias, around)
	case n.Kind == yaml.AliasNode || n.Alias == nil:
		return around
	}
	return n.Alias.Value
}

// Pos is the place of a node.
func Pos(n *yaml.Node, around string) diag.Pos {
	return diag.Pos{File: Of(n, around), Line: n.Line, Column: n.Column}
}
