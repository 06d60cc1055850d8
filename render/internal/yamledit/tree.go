package yamledit

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// clone copies a tree. Aliases keep their names; what they stand for follows
// from the anchors.
func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = clone(child)
	}
	return &c
}

// at is the node at a path, or nil.
func at(n *yaml.Node, path []string) *yaml.Node {
	for _, step := range path {
		if n == nil {
			return nil
		}
		n = child(n, step)
	}
	return n
}

// equal tells whether two trees say the same, anchors included.
func equal(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Content, b.Content, equal)
}
