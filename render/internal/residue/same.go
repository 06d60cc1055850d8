package residue

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Same reports whether two values are the same for Talos.
func Same(a, b *yaml.Node) bool { return same(a, b) }

// same reports whether two values are the same for Talos; both may be absent.
func same(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return canonical(a) == canonical(b)
}

// canonical is a text that two values share if and only if they are the same.
func canonical(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		return scalar(n)
	case yaml.AliasNode:
		return canonical(n.Alias)
	}
	var parts []string
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			parts = append(parts, canonical(c))
		case i%2 == 1:
			parts = append(parts, fmt.Sprintf("%q: %s", n.Content[i-1].Value, canonical(c)))
		}
	}
	if n.Kind == yaml.SequenceNode {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

// scalar is the type of a scalar and its value in one form: 0x10 is 16.
func scalar(n *yaml.Node) string {
	tag, value := n.ShortTag(), n.Value
	var v any
	if tag != "!!str" && n.Decode(&v) == nil {
		value = fmt.Sprint(v)
	}
	return fmt.Sprintf("%s %q", tag, value)
}
