package machine

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// warnRepeated finds single values that stand several times in a list because
// several layers have them: Talos appends to lists, also what they already
// hold. A value that one layer itself repeats (`-e a -e b`) is meant so.
func (m *merger) warnRepeated(before, after *Document, patches []*Patch) error {
	has, err := after.Leaves()
	if err != nil {
		return err
	}
	var had []yamltext.Leaf
	if before != nil {
		if had, err = before.Leaves(); err != nil {
			return err
		}
	}
	for start, end := 0, 0; start < len(has); start = end {
		end = listEnd(has, start)
		items := has[start:end]
		for i := range items {
			n := countValue(items[i:], items[i].Value)
			if n < 2 || items[i].Value == "" || n <= most(had, &items[i]) || n <= mostOfPatches(patches, after.ID, &items[i]) {
				continue
			}
			list := items[i].Path[:len(items[i].Path)-1]
			m.warnings.Add(diag.New(mentionPos(patches, after.ID, list), "%s has a value twice: Talos appends to lists", list).
				WithHint("leave out what a lower layer or Talos already sets, or write `!replace` before the list"))
			break
		}
	}
	return nil
}

// listEnd returns where the single values of a list end that start at a leaf;
// one leaf further if it is none of a list.
func listEnd(leaves []yamltext.Leaf, start int) int {
	first := leaves[start].Path
	last := len(first) - 1
	end := start + 1
	if first[last].Index < 0 {
		return end
	}
	for ; end < len(leaves); end++ {
		path := leaves[end].Path
		if len(path) != len(first) || path[last].Index != first[last].Index+end-start || !samePath(path[:last], first[:last]) {
			break
		}
	}
	return end
}

func countValue(items []yamltext.Leaf, value string) int {
	n := 0
	for i := range items {
		if items[i].Value == value {
			n++
		}
	}
	return n
}

// most returns how often a value stands in one list already, of all lists under
// the same keys.
func most(leaves []yamltext.Leaf, item *yamltext.Leaf) int {
	found := 0
	for start, end := 0, 0; start < len(leaves); start = end {
		end = listEnd(leaves, start)
		if leaves[start].Path.Pattern() == item.Path.Pattern() {
			found = max(found, countValue(leaves[start:end], item.Value))
		}
	}
	return found
}

// mostOfPatches is most for the lists that patches hold.
func mostOfPatches(patches []*Patch, id ID, item *yamltext.Leaf) int {
	found := 0
	for _, p := range patches {
		for _, pd := range p.docs {
			if pd.id == id {
				found = max(found, mostBelow(pd.node, item.Path[:len(item.Path)-1], item.Value))
			}
		}
	}
	return found
}

func mostBelow(n *yaml.Node, path yamltext.Path, value string) int {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	found := 0
	switch {
	case n == nil:
	case len(path) > 0 && path[0].Index < 0:
		found = mostBelow(valueAt(n, path[0].Key), path[1:], value)
	case n.Kind == yaml.SequenceNode && len(path) > 0:
		for _, item := range n.Content {
			found = max(found, mostBelow(item, path[1:], value))
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind == yaml.ScalarNode && item.Value == value {
				found++
			}
		}
	}
	return found
}
