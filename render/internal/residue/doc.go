// Package residue finds what machine configurations have that a render does not make,
// and writes it as patches: each value in the highest layer that holds it. It is pure.
package residue

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/machine"
)

// Document is a document of a configuration, as Talos writes it.
type Document struct {
	ID   machine.ID
	Root *yaml.Node // a mapping
}

// Node is a node with the configuration that it has to have, and the one that is made
// for it.
type Node struct {
	Name, Role, Pool string
	Want, Have       []Document
}

// Documents are those of a configuration, to compare.
func Documents(c *machine.Config) ([]Document, error) {
	var docs []Document
	for _, d := range c.Documents() {
		root, err := d.Tree()
		if err != nil {
			return nil, err
		}
		docs = append(docs, Document{d.ID, root})
	}
	return docs, nil
}

// Copy returns documents that share nothing with these.
func Copy(docs []Document) []Document {
	all := make([]Document, len(docs))
	for i, d := range docs {
		all[i] = Document{d.ID, copied(d.Root)}
	}
	return all
}

func copied(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = copied(child)
	}
	return &c
}

// find is the root of a document, nil if there is none.
func find(docs []Document, id machine.ID) *yaml.Node {
	for _, d := range docs {
		if d.ID == id {
			return d.Root
		}
	}
	return nil
}

// at is the value below some keys, nil if there is none.
func at(n *yaml.Node, path []string) *yaml.Node {
	for _, key := range path {
		n = Child(n, key)
	}
	return n
}

// Child is the value of a key of a mapping; nil if there is none.
func Child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
