package yamlerror

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// deepest is the number of levels that maps and lists can nest in a source. It
// is many times what a configuration has; what follows a path at each node takes
// the square of it.
const deepest = 100

// TooDeep returns the problem of a tree whose maps and lists nest deeper than a
// source may, at the first that is too deep; nil if there is none. Aliases count
// with what they stand for.
func TooDeep(file string, root *yaml.Node) *diag.Problem {
	m := measure{}
	if m.height(root) <= deepest {
		return nil
	}
	n := root
	for left := deepest; left > 0; left-- {
		n = n.Content[slices.IndexFunc(n.Content, func(c *yaml.Node) bool { return m.height(c) >= left })]
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
	}
	return diag.New(diag.Pos{File: file, Line: n.Line, Column: n.Column}, "nested deeper than %d levels", deepest).
		WithHint("no configuration is that deep: look for an indentation that grows by mistake")
}

// measure holds the heights of collections: how many levels nest in each, with
// itself.
type measure map[*yaml.Node]int

// height measures a node. One that is in itself, by an alias, is too high.
func (m measure) height(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if len(n.Content) == 0 {
		return 0
	}
	if known, ok := m[n]; ok {
		return known
	}
	m[n] = deepest + 1
	below := 0
	for _, c := range n.Content {
		below = max(below, m.height(c))
	}
	m[n] = below + 1
	return below + 1
}
