package machine

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// zeroLeaf is a value of a patch that says nothing: null, "", 0, []. Talos'
// merge keeps what is there instead, without a word, in most places.
type zeroLeaf struct {
	path []string
	node *yaml.Node
}

// zeroLeaves finds the values of a document that Talos' merge may ignore.
// Those inside of lists are left out: lists are appended whole.
func zeroLeaves(root *yaml.Node) []zeroLeaf {
	var found []zeroLeaf
	var walk func(n *yaml.Node, path []string)
	walk = func(n *yaml.Node, path []string) {
		switch {
		case n.Kind == yaml.ScalarNode && isZeroScalar(n), n.Kind == yaml.SequenceNode && len(n.Content) == 0 && n.Tag != tagReplace:
			found = append(found, zeroLeaf{append([]string(nil), path...), n})
		case n.Kind == yaml.MappingNode && n.Tag != tagReplace:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], append(path, n.Content[i].Value))
			}
		}
	}
	walk(root, nil)
	return found
}

func isZeroScalar(n *yaml.Node) bool {
	if n.Tag == tagDelete {
		return false
	}
	switch n.ShortTag() {
	case "!!null":
		return true
	case "!!str":
		return n.Value == "" || noDuration.MatchString(n.Value)
	case "!!int":
		i, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 0, 64)
		return err == nil && i == 0
	case "!!float":
		f, err := strconv.ParseFloat(n.Value, 64)
		return err == nil && f == 0
	}
	return false
}

// noDuration matches durations of zero: 0s, 0h0m.
var noDuration = regexp.MustCompile(`^([+-]?0(\.0*)?(ns|us|µs|ms|s|m|h))+$`)

// arrived reports values of a patch that Talos' merge ignored because they are
// empty, while something else is there.
func (m *merger) arrived(p *Patch, pd *patchDoc) error {
	if len(pd.zero) == 0 {
		return nil
	}
	doc := m.Document(pd.id)
	if doc == nil {
		return nil
	}
	leaves, err := doc.Leaves()
	if err != nil {
		return err
	}
	var problems diag.List
	for _, z := range pd.zero {
		if !keptDespite(leaves, z) {
			continue
		}
		problems.Add(diag.New(nodePos(p.File, z.node), "%s has no effect: Talos keeps the value that a lower layer set", describeZero(z.node)).
			WithHint("write `%s: !delete` to remove the value, or !replace with a new list or map", z.path[len(z.path)-1]))
	}
	return problems.Err()
}

func describeZero(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "an empty list"
	case n.ShortTag() == "!!null":
		return "an empty value (null)"
	case n.Value == "":
		return "an empty string"
	default:
		return "the value " + n.Value
	}
}

// keptDespite reports whether something other than the empty value is at its
// path.
func keptDespite(leaves []yamltext.Leaf, z zeroLeaf) bool {
	for i := range leaves {
		l := &leaves[i]
		if !hasPrefix(l.Path, z.path) {
			continue
		}
		if z.node.Kind == yaml.SequenceNode || z.node.ShortTag() == "!!null" {
			if !l.IsZero() {
				return true
			}
			continue
		}
		if len(l.Path) == len(z.path) && !l.IsZero() && !strings.EqualFold(l.Value, z.node.Value) {
			return true
		}
	}
	return false
}

func hasPrefix(path yamltext.Path, keys []string) bool {
	if len(path) < len(keys) {
		return false
	}
	for i, k := range keys {
		if path[i].Index >= 0 || path[i].Key != k {
			return false
		}
	}
	return true
}

// guard compares every changed document with what it was before all patches.
// Some types of Talos' library overwrite themselves, in a merge, with what a
// patch does not say (CEL expressions, sizes; see talos-1.14 in the reference):
// what was lost that way is put back.
func (m *merger) guard(patches []*Patch) error {
	for i := range m.docs {
		id := m.docs[i].ID
		before := m.base.Document(id)
		if before == nil || !m.owned[id] {
			continue
		}
		if err := m.warnRepeated(before, m.docs[i], patches); err != nil {
			return err
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
			return diag.On(id.String(), "Talos' merge loses %s, which no patch mentions", firstPath(still)).
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
	tree, err := m.docs[i].tree()
	if err != nil {
		return err
	}
	e := editor{}
	e.overlay(tree, lost)
	typed, err := decodeNode(id.String(), id, tree)
	if err != nil {
		return err
	}
	m.docs[i] = &Document{ID: id, typed: typed}
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

// warnRepeated finds single values that a list has twice since the patches:
// Talos appends to lists, also what they already have.
func (m *merger) warnRepeated(before, after *Document, patches []*Patch) error {
	had, err := before.Leaves()
	if err != nil {
		return err
	}
	has, err := after.Leaves()
	if err != nil {
		return err
	}
	known := map[string]int{}
	count := func(leaves []yamltext.Leaf, repeated func(*yamltext.Leaf, string)) {
		seen := map[string]int{}
		for i := range leaves {
			l := &leaves[i]
			if l.Path[len(l.Path)-1].Index < 0 || l.Value == "" {
				continue
			}
			key := l.Path[:len(l.Path)-1].String() + "\x00" + l.Value
			if seen[key]++; seen[key] > 1 {
				repeated(l, key)
			}
		}
	}
	count(had, func(_ *yamltext.Leaf, key string) { known[key]++ })
	count(has, func(l *yamltext.Leaf, key string) {
		if known[key] == 0 {
			list := l.Path[:len(l.Path)-1]
			m.warnings.Add(diag.New(mentionPos(patches, before.ID, list), "%s has a value twice: Talos appends to lists", list).
				WithHint("leave out what a lower layer or Talos already sets, or write `!replace` before the list"))
		}
	})
	return nil
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
