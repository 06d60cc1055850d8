package machine

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// valueTree is a document as a tree of its leaves.
type valueTree struct {
	leaf  int // index of the leaf, -1 inside
	value string
	first string // the first key
	keys  map[string]*valueTree
	items []*valueTree
}

func treeOf(leaves []yamltext.Leaf) *valueTree {
	root := &valueTree{leaf: -1}
	for i := range leaves {
		at := root
		for _, e := range leaves[i].Path {
			at = at.child(e)
		}
		at.leaf, at.value = i, leaves[i].Value
	}
	return root
}

func (v *valueTree) child(e yamltext.Elem) *valueTree {
	if e.Index >= 0 {
		for len(v.items) <= e.Index {
			v.items = append(v.items, &valueTree{leaf: -1})
		}
		return v.items[e.Index]
	}
	if v.keys == nil {
		v.keys, v.first = map[string]*valueTree{}, e.Key
	}
	if v.keys[e.Key] == nil {
		v.keys[e.Key] = &valueTree{leaf: -1}
	}
	return v.keys[e.Key]
}

func (v *valueTree) equal(o *valueTree) bool {
	if v == nil || o == nil || (v.leaf < 0) != (o.leaf < 0) || v.value != o.value || len(v.keys) != len(o.keys) || len(v.items) != len(o.items) {
		return v == o
	}
	for key, child := range v.keys {
		if !child.equal(o.keys[key]) {
			return false
		}
	}
	for i, item := range v.items {
		if !item.equal(o.items[i]) {
			return false
		}
	}
	return true
}

// carry finds for each leaf of a changed document the origins that it had.
// Items of lists may have moved: they are known again by what they hold, or by
// their first key.
func carry(old, now *valueTree, had, has [][]Origin) {
	if old.leaf >= 0 && now.leaf >= 0 {
		has[now.leaf] = had[old.leaf]
		return
	}
	for key, child := range now.keys {
		if before := old.keys[key]; before != nil {
			carry(before, child, had, has)
		}
	}
	pairs := make([]*valueTree, len(now.items))
	used := map[*valueTree]bool{}
	pair := func(same func(a, b *valueTree) bool) {
		for i, item := range now.items {
			for _, before := range old.items {
				if pairs[i] == nil && !used[before] && same(before, item) {
					pairs[i], used[before] = before, true
				}
			}
		}
	}
	pair((*valueTree).equal)
	pair(func(a, b *valueTree) bool {
		return a.first != "" && a.first == b.first && a.keys[a.first].equal(b.keys[b.first])
	})
	for i, before := range pairs {
		if before != nil {
			carry(before, now.items[i], had, has)
		}
	}
}

// matcher finds, for each leaf of a document, the node of a patch that set it.
type matcher struct {
	set     []*yaml.Node // nil for those that the patch says nothing about
	origins [][]Origin   // of lower layers; nil for what is new
}

// match walks a patch and the tree that it was merged into. Keys are the same
// on both sides. Where Talos put an item of a list cannot be seen from the
// patch, so items are matched by what they hold, the last match first: lists
// are appended to.
func (m *matcher) match(n *yaml.Node, at *valueTree) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if at.leaf >= 0 {
		m.set[at.leaf] = n
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if next := at.keys[n.Content[i].Value]; next != nil {
				m.match(n.Content[i+1], next)
			}
		}
	case yaml.SequenceNode:
		m.list(n.Content, at.items)
	default:
		// One value in the patch became several: an argument, a size.
		for _, next := range at.keys {
			m.match(n, next)
		}
	}
}

// list matches the items of a patch's list to those of the result: by all that
// they hold, then by their first key, and at last, for what Talos prints in
// another form, to those that are new.
func (m *matcher) list(patch []*yaml.Node, items []*valueTree) {
	matched := make([]*valueTree, len(patch))
	taken := map[*valueTree]bool{}
	pass := func(same func(n *yaml.Node, v *valueTree) bool) {
		for i := len(patch) - 1; i >= 0; i-- {
			for j := len(items) - 1; j >= 0 && matched[i] == nil; j-- {
				if !taken[items[j]] && patch[i].Tag != tagDelete && same(patch[i], items[j]) {
					matched[i], taken[items[j]] = items[j], true
				}
			}
		}
	}
	pass(func(n *yaml.Node, v *valueTree) bool { return v.holds(n, true) })
	pass(func(n *yaml.Node, v *valueTree) bool { return n.Kind == yaml.MappingNode && v.holds(n, false) })
	pass(func(_ *yaml.Node, v *valueTree) bool { return m.isNew(v) })
	for i, v := range matched {
		if v != nil {
			m.match(patch[i], v)
		}
	}
}

// isNew reports whether no lower layer had a say about a value or anything in it.
func (m *matcher) isNew(v *valueTree) bool {
	if v.leaf >= 0 {
		return len(m.origins[v.leaf]) == 0
	}
	for _, child := range v.keys {
		if !m.isNew(child) {
			return false
		}
	}
	for _, item := range v.items {
		if !m.isNew(item) {
			return false
		}
	}
	return true
}

// holds reports whether a tree has all values of a node, or, with all unset,
// that of its first key.
func (v *valueTree) holds(n *yaml.Node, all bool) bool {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			next := v.keys[n.Content[i].Value]
			if n.Content[i+1].Tag == tagDelete {
				continue
			}
			if next == nil || !next.holds(n.Content[i+1], true) {
				return false
			}
			if !all {
				return true
			}
		}
		return true
	case yaml.SequenceNode:
		return len(v.items) >= len(n.Content)
	default:
		return v.leaf >= 0 && v.value == n.Value
	}
}
