package residue

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/machine"
)

// Place is a value in a document: the keys that lead to it. Lists count as values.
type Place struct {
	ID   machine.ID
	Path []string // none: the document
}

func (p Place) key() string {
	return p.ID.APIVersion + "\x00" + p.ID.Kind + "\x00" + p.ID.Name + "\x00" + strings.Join(p.Path, "\x00")
}

// String prints KubeletConfig config.maxPods.
func (p Place) String() string {
	return strings.TrimSpace(p.ID.String() + " " + strings.Join(p.Path, "."))
}

// Change is a value that a node has to have and that is not made for it, or the
// other way round.
type Change struct {
	Place
	Value *yaml.Node // nil: it is not to be there
	Whole bool       // a mapping that takes the place of another
}

// Differences are the changes that make a node's configuration what it has to be.
func (n *Node) Differences() []Change { return n.differences(Hints{}) }

func (n *Node) differences(h Hints) []Change {
	d := differ{hints: h}
	for _, want := range n.Want {
		d.id = want.ID
		if have := find(n.Have, want.ID); have != nil {
			d.compare(nil, have, want.Root)
		} else {
			d.add(nil, d.nameless(want.Root))
		}
	}
	for _, have := range n.Have {
		if find(n.Want, have.ID) == nil {
			d.id = have.ID
			d.change(nil, nil, false)
		}
	}
	return d.found
}

type differ struct {
	hints Hints
	id    machine.ID
	found []Change
}

func (d *differ) change(path []string, value *yaml.Node, whole bool) {
	d.found = append(d.found, Change{Place{d.id, path}, value, whole})
}

// nameless is a document without what it is known by.
func (d *differ) nameless(root *yaml.Node) *yaml.Node {
	if d.id.IsMain() {
		return root
	}
	rest := *root
	rest.Content = nil
	for i := 0; i+1 < len(root.Content); i += 2 {
		if key := root.Content[i].Value; key != "apiVersion" && key != "kind" && (key != "name" || d.id.Name == "") {
			rest.Content = append(rest.Content, root.Content[i], root.Content[i+1])
		}
	}
	return &rest
}

// add notes each value of something that is not made yet.
func (d *differ) add(path []string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.change(path, n, false)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		d.add(below(path, n.Content[i].Value), n.Content[i+1])
	}
}

func (d *differ) compare(path []string, have, want *yaml.Node) {
	switch {
	case same(have, want):
	case have.Kind != yaml.MappingNode || want.Kind != yaml.MappingNode:
		d.change(path, want, want.Kind == yaml.MappingNode)
	case len(want.Content) == 0 || d.hints.whole(Place{d.id, path}):
		d.change(path, d.identified(path, want), true)
	default:
		for i := 0; i+1 < len(want.Content); i += 2 {
			key, value := want.Content[i].Value, want.Content[i+1]
			if old := Child(have, key); old != nil {
				d.compare(below(path, key), old, value)
			} else {
				d.add(below(path, key), value)
			}
		}
		for i := 0; i+1 < len(have.Content); i += 2 {
			if key := have.Content[i].Value; Child(want, key) == nil {
				d.change(below(path, key), nil, false)
			}
		}
	}
}

// identified is a value; of a document, without what it is known by.
func (d *differ) identified(path []string, n *yaml.Node) *yaml.Node {
	if len(path) == 0 {
		return d.nameless(n)
	}
	return n
}

func below(path []string, key string) []string {
	return append(path[:len(path):len(path)], key)
}
