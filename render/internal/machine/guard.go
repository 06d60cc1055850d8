package machine

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// guard compares every changed document with what it was before all patches.
// Some types of Talos' library overwrite themselves, in a merge, with what a
// patch does not say (CEL expressions, sizes; see talos-1.14 in the reference):
// what was lost that way is put back.
func (m *merger) guard(patches []*Patch) error {
	for i := range m.docs {
		id := m.docs[i].ID
		before := m.base.Document(id)
		if !m.owned[id] {
			continue
		}
		if err := m.warnRepeated(before, m.docs[i], patches); err != nil {
			return err
		}
		if before == nil {
			continue
		}
		lost, err := m.lost(before, m.docs[i], patches)
		if err != nil {
			return err
		}
		if lost == nil {
			continue
		}
		if err := m.restore(id, i, lost); err != nil {
			return err
		}
		if still, err := m.lost(before, m.docs[i], patches); err != nil {
			return err
		} else if still != nil {
			return diag.On(id.Kind, "Talos' merge loses %s, which no patch mentions", firstPath(still)).
				WithHint("repeat the value in the patch that changes this document")
		}
	}
	return nil
}

// lost returns the values of a document that are gone although no patch
// mentions them, as a tree; nil if there are none.
func (m *merger) lost(before, after *Document, patches []*Patch) (*yaml.Node, error) {
	had, err := before.Leaves()
	if err != nil {
		return nil, err
	}
	has, err := after.Leaves()
	if err != nil {
		return nil, err
	}
	var tree *yaml.Node
	next := 0
	for i := range had {
		l := &had[i]
		if l.IsZero() {
			continue
		}
		// Leaves keep their order, so the search starts where the last ended.
		at := findLeaf(has, l.Path, next)
		if at >= 0 {
			next = at + 1
			if !has[at].IsZero() {
				continue
			}
		}
		if mentioned(patches, before.ID, before.replacedAt(l.Path)) {
			continue
		}
		if tree == nil {
			tree = &yaml.Node{Kind: yaml.MappingNode}
		}
		graft(tree, l)
	}
	return tree, nil
}

func findLeaf(leaves []yamltext.Leaf, path yamltext.Path, from int) int {
	for n := range leaves {
		i := (from + n) % len(leaves)
		if samePath(leaves[i].Path, path) {
			return i
		}
	}
	return -1
}

func samePath(a, b yamltext.Path) bool {
	if len(a) != len(b) {
		return false
	}
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// mentioned reports whether a patch says something about a path: sets it, or a
// list or a deletion above it.
func mentioned(patches []*Patch, id ID, path yamltext.Path) bool {
	for _, p := range patches {
		for _, pd := range p.docs {
			if pd.id == id && mentions(pd.node, path) {
				return true
			}
		}
	}
	return false
}

func mentions(n *yaml.Node, path yamltext.Path) bool {
	for _, e := range path {
		if n.Kind != yaml.MappingNode || n.Tag == tagReplace || n.Tag == tagDelete || keyNode(n, "$patch") != nil || keyNode(n, "<<") != nil {
			return true
		}
		if n = valueAt(n, e.Key); n == nil {
			return false
		}
	}
	return true
}

// graft adds a leaf to a tree of mappings. Leaves inside of lists are not
// reached by the defects that this is for.
func graft(tree *yaml.Node, l *yamltext.Leaf) {
	for i, e := range l.Path {
		value := valueAt(tree, e.Key)
		if value == nil {
			value = &yaml.Node{Kind: yaml.MappingNode}
			if i == len(l.Path)-1 {
				value = &yaml.Node{Kind: yaml.ScalarNode, Value: l.Value}
				if l.Kind == yamltext.String {
					value.Tag = "!!str"
				}
			}
			tree.Content = append(tree.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: e.Key}, value)
		}
		tree = value
	}
}

// restore puts lost values back into the tree of the document: a merge would
// lose others of the same kind.
func (m *merger) restore(id ID, i int, lost *yaml.Node) error {
	tree, err := m.docs[i].Tree()
	if err != nil {
		return err
	}
	e := editor{}
	e.overlay(tree, lost)
	typed, err := decodeNode(id.String(), id, tree)
	if err != nil {
		return err
	}
	m.change(i, typed)
	return nil
}

func firstPath(tree *yaml.Node) string {
	path := ""
	for tree.Kind == yaml.MappingNode && len(tree.Content) > 1 {
		if path != "" {
			path += "."
		}
		path += tree.Content[0].Value
		tree = tree.Content[1]
	}
	return path
}

// mentionPos returns where the last patch that says something about a path
// does so.
func mentionPos(patches []*Patch, id ID, path yamltext.Path) diag.Pos {
	for i := len(patches) - 1; i >= 0; i-- {
		for _, pd := range patches[i].docs {
			if pd.id == id && mentions(pd.node, path) {
				return nodePos(patches[i].File, nodeAt(pd.node, path))
			}
		}
	}
	return diag.Pos{}
}

// nodeAt returns the node at a path, or the last one above it.
func nodeAt(n *yaml.Node, path yamltext.Path) *yaml.Node {
	for _, e := range path {
		next := valueAt(n, e.Key)
		if next == nil {
			return n
		}
		n = next
	}
	return n
}
