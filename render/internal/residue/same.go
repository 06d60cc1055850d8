package residue

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// Same reports whether two values are the same for Talos.
func Same(a, b *yaml.Node) bool { return same(a, b) }

// same reports whether two values are the same for Talos; both may be absent. The keys
// of a mapping may be in any order.
func same(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind == yaml.AliasNode {
		a = a.Alias
	}
	if b.Kind == yaml.AliasNode {
		b = b.Alias
	}
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == yaml.ScalarNode:
		return a.Value == b.Value && a.ShortTag() == b.ShortTag() || scalar(a) == scalar(b)
	case len(a.Content) != len(b.Content):
		return false
	case a.Kind == yaml.MappingNode:
		return sameMapping(a, b)
	}
	for i, item := range a.Content {
		if !same(item, b.Content[i]) {
			return false
		}
	}
	return true
}

// sameMapping is [same] of two mappings with as many keys. Most have them in one order.
func sameMapping(a, b *yaml.Node) bool {
	for i := 0; i+1 < len(a.Content); i += 2 {
		key, other := a.Content[i].Value, b.Content[i+1]
		if b.Content[i].Value != key {
			other = Child(b, key)
		}
		if other == nil || !same(a.Content[i+1], other) {
			return false
		}
	}
	return true
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
