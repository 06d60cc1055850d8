package machine

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// plainKeys reports whether all keys of a document are scalars: none is an alias,
// a merge, or a collection.
func plainKeys(n *yaml.Node) bool {
	for i, c := range n.Content {
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		if isKey && (c.Kind != yaml.ScalarNode || c.Value == "<<") || !plainKeys(c) {
			return false
		}
	}
	return true
}

// repeatedKeys reports keys that a mapping of a document has twice, if all of
// them are plain. It looks at each key once.
func repeatedKeys(file string, root *yaml.Node) error {
	var problems diag.List
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			first := make(map[string]*yaml.Node, len(n.Content)/2)
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := n.Content[i]
				if before := first[key.Value]; before != nil {
					problems.Add(diag.New(nodePos(file, key), "mapping key %q already defined at line %d", key.Value, before.Line).WithCause(errForeign))
					continue
				}
				first[key.Value] = key
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(root)
	return problems.Err()
}
