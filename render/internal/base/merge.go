package base

import (
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/nodefile"
	"github.com/talosgen/talosgen/schemas"
)

// maxAliases bounds what small files with nested aliases can grow to.
const maxAliases = 1000

// Merge lays the parts of a chain over each other, as [Read] lists them. The parts are left
// as they are.
func Merge(parts []Part) (*yaml.Node, error) {
	last := len(parts) - 1
	if last == 0 {
		return parts[0].Root, nil
	}
	m := merger{}
	merged := withoutBase(parts[last].Root)
	for i := last - 1; i >= 0; i-- {
		m.file = parts[i].File
		over := parts[i].Root
		if i > 0 {
			over = withoutBase(over)
		}
		merged = m.value(merged, over, reflect.TypeFor[schemas.Cluster]())
	}
	return merged, m.problems.Err()
}

// withoutBase is a document without the name of its own base, which is nothing that
// it gives to others.
func withoutBase(root *yaml.Node) *yaml.Node {
	out := *root
	out.Content = nil
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != schemas.BaseKey {
			out.Content = append(out.Content, root.Content[i], root.Content[i+1])
		}
	}
	if root.Kind != yaml.MappingNode {
		return root
	}
	return &out
}

type merger struct {
	file     string // whose values are laid over others
	problems diag.List
	aliases  int
}

func (m *merger) fail(n *yaml.Node, hint, message string, args ...any) {
	m.problems.Add(diag.New(nodefile.Pos(n, m.file), message, args...).WithHint("%s", hint))
}

// target follows an alias.
func (m *merger) target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		if m.aliases++; m.aliases > maxAliases {
			if m.aliases == maxAliases+1 {
				m.fail(n, "", "more than %d aliases", maxAliases)
			}
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
		}
		n = n.Alias
	}
	return n
}

// value lays a value over another.
func (m *merger) value(under, over *yaml.Node, t reflect.Type) *yaml.Node {
	below, above := m.target(under), m.target(over)
	switch {
	case isNull(above):
		if !isNull(below) {
			m.noEffect(over, below, "nothing here")
		}
		return under
	case above.Tag == tagReplace || above.Kind != below.Kind:
		return plain(over)
	case above.Kind == yaml.MappingNode:
		return m.mapping(below, above, t)
	case above.Kind == yaml.SequenceNode:
		if len(above.Content) == 0 && len(below.Content) > 0 {
			m.noEffect(over, below, "an empty list")
		}
		return m.list(below, above, t)
	}
	return plain(over)
}

// noEffect refuses what may be meant to take away, and does not.
func (m *merger) noEffect(over, below *yaml.Node, what string) {
	m.fail(over, "write `!delete` behind the key to remove the value, or `!replace` before another list or mapping",
		"%s has no effect: the value of %s stays", what, nodefile.Pos(below, m.file))
}

// mapping lays a mapping over another, key by key.
func (m *merger) mapping(under, over *yaml.Node, t reflect.Type) *yaml.Node {
	out := *over
	out.Content, out.Anchor = nil, ""
	above := m.keys(over)
	for i := 0; i+1 < len(under.Content); i += 2 {
		key, value := under.Content[i], under.Content[i+1]
		at, both := above[keyOf(key)]
		switch {
		case !both:
			out.Content = append(out.Content, key, value)
		case over.Content[at+1].Tag != tagDelete:
			merged := m.value(value, over.Content[at+1], below(t, key.Value))
			if merged != value { // a value that stays has its place
				key = over.Content[at]
			}
			out.Content = append(out.Content, key, merged)
		}
	}
	known := m.keys(under)
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		if _, both := known[keyOf(key)]; !both && value.Tag != tagDelete {
			out.Content = append(out.Content, key, plain(value))
		}
	}
	return &out
}

// keyOf is what a key is known by; "" for one that no mapping here can have, and that
// is reported when the result is read.
func keyOf(key *yaml.Node) string {
	if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
		return ""
	}
	return "=" + key.Value
}

// keys are the places of the keys in the content of a mapping.
func (m *merger) keys(n *yaml.Node) map[string]int {
	at := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := keyOf(n.Content[i])
		if first, twice := at[key]; twice {
			m.fail(n.Content[i], "the first one is on line "+strconv.Itoa(n.Content[first].Line), "duplicate key %q", n.Content[i].Value)
		} else if key != "" {
			at[key] = i
		}
	}
	return at
}

// list adds the items of a list to another. An item that is known by a key, or that has
// a tag in it, meets the one that it is about.
func (m *merger) list(under, over *yaml.Node, t reflect.Type) *yaml.Node {
	item := below(t, "")
	out := *over
	out.Content, out.Anchor = slices.Clone(under.Content), ""
	met := map[*yaml.Node]bool{} // once: a second item of that name is for who reads the result
	var added []*yaml.Node
	for _, n := range over.Content {
		value := m.target(n)
		key := ItemKey(item)
		if key == "" && directs(value) {
			key = firstKey(value)
		}
		i := m.find(out.Content, value, key)
		switch {
		case value.Tag == tagDelete:
			out.Content = m.without(out.Content, value)
		case i < 0 || met[out.Content[i]]:
			added = append(added, plain(n))
		default:
			out.Content[i] = m.value(out.Content[i], n, item)
			met[out.Content[i]] = true
		}
	}
	out.Content = append(out.Content, added...)
	return &out
}

// find is the place of the item that has the same value of a key; -1 if there is none.
func (m *merger) find(items []*yaml.Node, like *yaml.Node, key string) int {
	want, ok := scalarAt(like, key)
	if !ok {
		return -1
	}
	return slices.IndexFunc(items, func(n *yaml.Node) bool {
		have, ok := scalarAt(m.target(n), key)
		return ok && have == want
	})
}

// without is a list without the items that a !delete names: those that are its value, or
// whose first key has the value that its first key has.
func (m *merger) without(items []*yaml.Node, gone *yaml.Node) []*yaml.Node {
	key := firstKey(gone)
	want, byKey := scalarAt(gone, key)
	return slices.DeleteFunc(items, func(n *yaml.Node) bool {
		n = m.target(n)
		if byKey {
			have, ok := scalarAt(n, key)
			return ok && have == want
		}
		return gone.Kind == yaml.ScalarNode && n.Kind == yaml.ScalarNode && n.Value == gone.Value
	})
}

func firstKey(n *yaml.Node) string {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return ""
	}
	return n.Content[0].Value
}

// scalarAt is the text of a key of a mapping, if there is one.
func scalarAt(n *yaml.Node, key string) (string, bool) {
	if n.Kind != yaml.MappingNode || key == "" {
		return "", false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i+1].Kind == yaml.ScalarNode {
			return n.Content[i+1].Value, true
		}
	}
	return "", false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
