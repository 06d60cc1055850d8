package legacy

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// move puts a value at the field's new home.
func (c *conversion) move(f field, value *yaml.Node) bool {
	return c.put(f, value, f.home.Kind, f.home.Name, strings.Split(f.home.Field, ".")...)
}

// put sets a field of a new document.
func (c *conversion) put(f field, value *yaml.Node, kind, name string, path ...string) bool {
	doc := c.documents.find(kind, name, f.key)
	if !doc.put(path, f.key, value) {
		return c.contradicts(f, doc)
	}
	c.moved = append(c.moved, moved{key: keyAt(doc.root, path), doc: doc})
	return true
}

// remove makes the patch delete a document.
func (c *conversion) remove(f field, kind, name string) bool {
	doc := c.documents.find(kind, name, f.key)
	if !doc.remove(f.key) {
		return c.contradicts(f, doc)
	}
	c.moved = append(c.moved, moved{key: doc.root.Content[0], doc: doc})
	return true
}

// contradicts refuses a field because the patch says something else as well.
func (c *conversion) contradicts(f field, doc *document) bool {
	return c.refuse(f, "the patch says something else about "+doc.kind+" as well: keep one of the two")
}

// keyAt returns the key node at a path.
func keyAt(n *yaml.Node, path []string) *yaml.Node {
	for _, step := range path[:len(path)-1] {
		n = get(n, step)
	}
	return n.Content[indexOf(n, path[len(path)-1])]
}

// warnWorkers reports documents that workers do not take.
func (c *conversion) warnWorkers() {
	for _, doc := range c.controlPlaneDocuments() {
		p := c.problem(doc.root, "%s is for control planes only, and the patch is applied to workers too", doc.kind)
		p.Hint = "put this document into a patch for control planes (patches/controlplane/)"
	}
}

// controlPlaneDocuments returns the new documents that workers do not take.
func (c *conversion) controlPlaneDocuments() []*document {
	var list []*document
	for _, doc := range c.documents.list {
		if doc.made && ControlPlaneOnly(doc.kind) && !isDelete(doc.root) {
			list = append(list, doc)
		}
	}
	return list
}
