package machine

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Tags that say how a value meets what is below it. Talos' own merge can
// append to lists and add to maps only.
const (
	tagReplace = "!replace" // on a list or a map: take this in place of what is there
	tagDelete  = "!delete"  // on a key, a list item or a document: remove it, if it is there
)

// marks are the instructions that a parsed document holds.
type marks struct {
	file        string
	directives  bool // !replace or !delete
	patchDelete bool // Talos' $patch: delete
	problems    []*diag.Problem
}

// findMarks walks a document for instructions, and checks them.
func findMarks(file string, root *yaml.Node) marks {
	m := marks{file: file}
	m.walk(root, false)
	if (root.Tag == tagDelete || root.Tag == tagReplace) && idOf(root).IsMain() {
		m.add(root, root.Tag+" of the whole machine configuration", "only documents with a kind can be removed or replaced whole")
		return m
	}
	for _, key := range []string{"apiVersion", "kind", "name"} {
		if v := valueAt(root, key); m.directives && v != nil && (v.Tag == tagDelete || v.Tag == tagReplace) {
			m.add(v, "the document is known by its "+key, "write `--- !delete` before the document to remove it, `--- !replace` to replace it")
		}
	}
	return m
}

func (m *marks) add(at *yaml.Node, message, hint string) {
	m.problems = append(m.problems, diag.New(nodePos(m.file, at), "%s", message).WithHint("%s", hint))
}

func (m *marks) walk(n *yaml.Node, inList bool) {
	switch {
	case n.Tag == tagReplace:
		m.directives = true
		if n.Kind == yaml.ScalarNode {
			m.add(n, "!replace on a single value", "a single value always replaces; !replace is for lists and maps")
		}
	case n.Tag == tagDelete:
		m.directives = true
		if !deletesSomething(n, inList) {
			m.add(n, "!delete of what?", "write `key: !delete`; in a list, `- !delete x` removes the value x and\n`- !delete {name: x}` the item with that name")
		}
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") && n.Tag != "!":
		m.add(n, "unknown tag "+n.Tag, "the tags of patches are !replace and !delete")
	case n.Kind == yaml.AliasNode && hasDirectives(n.Alias):
		m.directives = true
		m.add(n, "an alias of something with !replace or !delete", "write it out here: what these tags do depends on the place")
	}
	if n.Kind == yaml.MappingNode {
		m.patchKey(n)
	}
	for _, c := range n.Content {
		m.walk(c, n.Kind == yaml.SequenceNode)
	}
}

// deletesSomething reports whether a !delete says what to remove, and no more:
// the key before it, the item of a list after it, or the document below it.
func deletesSomething(n *yaml.Node, inList bool) bool {
	isDocument := func(n *yaml.Node) bool {
		return slices.ContainsFunc([]string{"kind", "machine", "cluster"}, func(key string) bool { return valueAt(n, key) != nil })
	}
	switch {
	case inList:
		return n.Value != "" || n.Kind == yaml.MappingNode && len(n.Content) > 0
	case n.Kind == yaml.MappingNode:
		return isDocument(n)
	default:
		return n.Kind == yaml.ScalarNode && n.Value == ""
	}
}

// patchKey looks at Talos' own $patch key.
func (m *marks) patchKey(mapping *yaml.Node) {
	key := keyNode(mapping, "$patch")
	switch {
	case key == nil:
	case scalarAt(mapping, "$patch") == "delete":
		m.patchDelete = true
	default:
		m.add(key, "Talos knows only $patch: delete", "use !replace on the list or map: `key: !replace [...]`")
	}
}

// stripDirectives returns the document without what the directives carry: what
// Talos' decoder can check as a patch.
func stripDirectives(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode && n.Kind != yaml.SequenceNode {
		if n.Tag != tagDelete {
			return n
		}
		plain := *n // the value x of `- !delete x`
		plain.Tag = ""
		return &plain
	}
	out := *n
	out.Content = nil
	if n.Tag == tagReplace || n.Tag == tagDelete {
		out.Tag = ""
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if item.Tag != tagDelete {
				out.Content = append(out.Content, stripDirectives(item))
			}
		}
		return &out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i+1].Tag != tagDelete {
			out.Content = append(out.Content, n.Content[i], stripDirectives(n.Content[i+1]))
		}
	}
	return &out
}

// hasDirectives reports whether a value is or holds a directive.
func hasDirectives(n *yaml.Node) bool {
	return n.Tag == tagReplace || n.Tag == tagDelete || slices.ContainsFunc(n.Content, hasDirectives)
}

// editor carries out the directives of a patch on the tree of a document, and
// leaves what Talos' merge has to do.
type editor struct {
	changed bool
}

// mapping applies the directives of a patch's mapping to the target's and
// returns the mapping that remains to be merged.
func (e *editor) mapping(target, patch *yaml.Node) *yaml.Node {
	rest := *patch
	rest.Content = nil
	for i := 0; i+1 < len(patch.Content); i += 2 {
		key, value := patch.Content[i], patch.Content[i+1]
		current := valueAt(target, key.Value)
		switch {
		case value.Tag == tagDelete:
			e.remove(target, key.Value)
			continue
		case value.Tag == tagReplace:
			e.remove(target, key.Value)
			value = stripDirectives(value)
		case !hasDirectives(value):
		case value.Kind == yaml.MappingNode && current != nil && current.Kind == yaml.MappingNode:
			value = e.mapping(current, value)
		case value.Kind == yaml.SequenceNode && current != nil && current.Kind == yaml.SequenceNode:
			value = e.sequence(current, value)
		default:
			value = stripDirectives(value)
		}
		if value.Kind != yaml.ScalarNode && len(value.Content) == 0 && hasDirectives(patch.Content[i+1]) && patch.Content[i+1].Tag != tagReplace {
			continue // nothing but directives was in it
		}
		rest.Content = append(rest.Content, key, value)
	}
	return &rest
}

func (e *editor) remove(mapping *yaml.Node, key string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			e.changed = true
			return
		}
	}
}

// sequence applies the directives in the items of a patch's list. An item is
// matched to the target's by its first key, as Talos' $patch: delete does; but
// all that match are deleted, so that deleting twice is the same as once. An
// item that holds directives and is matched is merged here, because Talos would
// append it to most lists.
func (e *editor) sequence(target, patch *yaml.Node) *yaml.Node {
	rest := *patch
	rest.Content = nil
	for _, item := range patch.Content {
		if !hasDirectives(item) {
			rest.Content = append(rest.Content, item)
			continue
		}
		at := matchItem(target, item)
		switch {
		case item.Tag == tagDelete:
			for ; at >= 0; at = matchItem(target, item) {
				target.Content = slices.Delete(target.Content, at, at+1)
				e.changed = true
			}
		case item.Tag == tagReplace && at >= 0:
			target.Content[at] = stripDirectives(item)
			e.changed = true
		case at >= 0 && item.Kind == yaml.MappingNode:
			e.overlay(target.Content[at], e.mapping(target.Content[at], item))
		case hasValues(item):
			rest.Content = append(rest.Content, stripDirectives(item))
		}
	}
	return &rest
}

// hasValues reports whether an item that is not there yet says more than what
// it is known by and what is not to be in it.
func hasValues(item *yaml.Node) bool {
	return item.Kind != yaml.MappingNode || item.Tag == tagReplace || len(stripDirectives(item).Content) > 2
}

// matchItem finds the item of a list that has the same first key and value as
// another, or is the same single value; -1 if there is none.
func matchItem(list, item *yaml.Node) int {
	return slices.IndexFunc(list.Content, func(have *yaml.Node) bool {
		if item.Kind != yaml.MappingNode || len(item.Content) < 2 {
			return sameNode(stripDirectives(have), stripDirectives(item))
		}
		key, value := item.Content[0], item.Content[1]
		current := valueAt(have, key.Value)
		return current != nil && sameNode(current, stripDirectives(value))
	})
}

// overlay puts the values of a mapping over another's: maps recursively, lists
// appended, single values replaced.
func (e *editor) overlay(target, patch *yaml.Node) {
	e.changed = true
	for i := 0; i+1 < len(patch.Content); i += 2 {
		key, value := patch.Content[i], patch.Content[i+1]
		current := valueAt(target, key.Value)
		switch {
		case current == nil:
			target.Content = append(target.Content, copyNode(key), copyNode(value))
		case current.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			e.overlay(current, value)
		case current.Kind == yaml.SequenceNode && value.Kind == yaml.SequenceNode:
			current.Content = append(current.Content, copyNode(value).Content...)
		default:
			*current = *copyNode(value)
		}
	}
}

// copyNode copies a tree, so that changing the copy leaves a patch as it is.
func copyNode(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = copyNode(child)
	}
	return &c
}
