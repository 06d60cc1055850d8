package residue

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// Layer is a place for patches: the name of its file or directory, as in common,
// worker or nodes/nas.
type Layer string

// Common is the layer of all nodes.
const Common Layer = "common"

func roleLayer(role string) Layer { return Layer(role) }
func poolLayer(pool string) Layer { return Layer("pools/" + pool) }
func nodeLayer(node string) Layer { return Layer("nodes/" + node) }

// Factor puts the differences of all nodes into layers: each into the highest one that
// has nodes only which have that value, or lack it, too.
func Factor(nodes []Node, h Hints) map[Layer][]Change {
	f := factoring{nodes: nodes, hints: h, layers: map[Layer][]Change{}, done: map[string]bool{}}
	for i := range nodes {
		for _, c := range nodes[i].differences(h) {
			f.place(i, c)
		}
	}
	return f.layers
}

type factoring struct {
	nodes  []Node
	hints  Hints
	layers map[Layer][]Change
	done   map[string]bool // layer and change
}

// place puts a change of a node into a layer.
func (f *factoring) place(node int, c Change) {
	n := &f.nodes[node]
	layers := []Layer{Common, roleLayer(n.Role), poolLayer(n.Pool), nodeLayer(n.Name)}
	if f.hints.alone(n.Name, c.Place) {
		f.put(layers[3], []*Node{n}, c) // besides the others, which it comes after
	}
	for _, l := range layers {
		members := f.members(l)
		if l != layers[len(layers)-1] && !f.sensible(l, members) || slices.ContainsFunc(members, func(m *Node) bool { return !holds(m, c) }) {
			continue
		}
		if len(members) == 1 && l != layers[len(layers)-1] && c.own() {
			continue
		}
		if !slices.ContainsFunc(members, func(m *Node) bool { return !f.hints.alone(m.Name, c.Place) }) {
			continue // all have it for themselves
		}
		if f.hints.exact && l != layers[len(layers)-1] && uneven(members, c) {
			continue
		}
		f.put(l, members, c)
		return
	}
}

// put puts a change into a layer of some nodes, once.
func (f *factoring) put(l Layer, members []*Node, c Change) {
	key := string(l) + "\x00" + c.key()
	if f.done[key] {
		return
	}
	f.done[key] = true
	list := c.Value != nil && c.Value.Kind == yaml.SequenceNode
	c.Whole = c.Whole || (list || f.hints.exact && c.Value != nil && zero(c.Value)) && slices.ContainsFunc(members, func(m *Node) bool { return has(m, c) })
	f.layers[l] = append(f.layers[l], c)
}

// sensible reports whether a layer is worth naming: a pool that is all of a role is not.
func (f *factoring) sensible(l Layer, members []*Node) bool {
	if l == Common || len(members) == 0 || l == roleLayer(members[0].Role) {
		return true
	}
	return len(members) < len(f.members(roleLayer(members[0].Role)))
}

func (f *factoring) members(l Layer) (members []*Node) {
	for i := range f.nodes {
		n := &f.nodes[i]
		if l == Common || l == roleLayer(n.Role) || l == poolLayer(n.Pool) || l == nodeLayer(n.Name) {
			members = append(members, n)
		}
	}
	return members
}

// holds reports whether a change is right for a node, be it needed there or not.
func holds(n *Node, c Change) bool {
	want := find(n.Want, c.ID)
	if len(c.Path) == 0 {
		d := differ{id: c.ID}
		return c.Value == nil && want == nil || c.Value != nil && want != nil && same(d.nameless(want), c.Value)
	}
	if c.Value == nil && at(want, c.Path[:len(c.Path)-1]) == nil {
		return false // to remove a key of a mapping makes that mapping
	}
	return same(at(want, c.Path), c.Value)
}

// has reports whether something is made for a node where a list, or nothing, is to be.
func has(n *Node, c Change) bool {
	have := at(find(n.Have, c.ID), c.Path)
	return have != nil && (len(have.Content) > 0 || have.Kind == yaml.ScalarNode && !zero(have))
}

// uneven reports whether some nodes have what a change takes away, and others do not.
func uneven(members []*Node, c Change) bool {
	if len(c.Path) == 0 || c.Value != nil && !c.Whole && c.Value.Kind != yaml.SequenceNode && !zero(c.Value) {
		return false
	}
	there := 0
	for _, m := range members {
		if at(find(m.Have, c.ID), c.Path) != nil {
			there++
		}
	}
	return there != len(members) && (there > 0 || c.Value == nil)
}

// zero reports whether a value is one that a merge of Talos passes over.
func zero(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && slices.Contains([]string{"", "0", "false", "null"}, n.Value)
}
