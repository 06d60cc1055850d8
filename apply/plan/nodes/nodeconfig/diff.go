package nodeconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// pair is one difference: a value in one configuration, in the other, or two
// that differ. Node is nil where there is none.
type pair struct {
	active, desired *leaf
}

// where is the place of a difference: that of what Git has, if it has it.
func (p pair) where() leaf {
	if p.desired != nil {
		return *p.desired
	}
	return *p.active
}

// differ finds all differences between two configurations: documents in Git's
// order, then those that only the node has.
func differ(active, desired *Config) []pair {
	w := &walker{}
	for _, d := range desired.docs {
		w.id = d.id
		if a := active.find(d.id); a != nil {
			w.compare(nil, a.root, d.root, false, false)
		} else {
			w.document(d.root, true)
		}
	}
	for _, a := range active.docs {
		if desired.find(a.id) == nil {
			w.id = a.id
			w.document(a.root, false)
		}
	}
	return w.pairs
}

type walker struct {
	id    ID
	pairs []pair
}

// all notes each value of something that only one side has.
func (w *walker) all(path yamltext.Path, n *yaml.Node, marked, desired bool) {
	leaves(w.id, path, n, marked, func(l leaf) {
		if desired {
			w.pairs = append(w.pairs, pair{desired: &l})
		} else {
			w.pairs = append(w.pairs, pair{active: &l})
		}
	})
}

// document notes a document that only one side has: its values, or that it is
// there if it has none.
func (w *walker) document(root *yaml.Node, desired bool) {
	named := *root
	named.Content = nil
	for i := 0; i < len(root.Content); i += 2 {
		key := root.Content[i].Value
		if w.id.Kind == "" || key != "apiVersion" && key != "kind" && (key != "name" || w.id.Name == "") {
			named.Content = append(named.Content, root.Content[i], root.Content[i+1])
		}
	}
	w.all(nil, &named, false, desired)
}

// compare compares two values. The marks say whether a comment above them
// marks all of a value as secret.
func (w *walker) compare(path yamltext.Path, a, d *yaml.Node, markA, markD bool) {
	markA, markD = markA || isMarked(a), markD || isMarked(d)
	switch {
	case a.Kind != d.Kind || len(a.Content) == 0 != (len(d.Content) == 0):
		w.replaced(path, a, d, markA, markD)
	case len(a.Content) == 0:
		if !same(a, d) {
			w.pairs = append(w.pairs, pair{&leaf{w.id, path, a, markA}, &leaf{w.id, path, d, markD}})
		}
	case a.Kind == yaml.SequenceNode:
		w.lists(path, a, d, markA, markD)
	default:
		w.maps(path, a, d, markA, markD)
	}
}

// replaced notes a value that becomes one of another kind.
func (w *walker) replaced(path yamltext.Path, a, d *yaml.Node, markA, markD bool) {
	if len(a.Content) == 0 && len(d.Content) == 0 {
		w.pairs = append(w.pairs, pair{&leaf{w.id, path, a, markA}, &leaf{w.id, path, d, markD}})
		return
	}
	w.all(path, a, markA, false)
	w.all(path, d, markD, true)
}

func (w *walker) maps(path yamltext.Path, a, d *yaml.Node, markA, markD bool) {
	for i := 0; i < len(d.Content); i += 2 {
		key := d.Content[i]
		below, mark := extend(path, yamltext.Key(key.Value)), markD || isMarked(key)
		if j := keyAt(a, key.Value); j >= 0 {
			w.compare(below, a.Content[j+1], d.Content[i+1], markA || isMarked(a.Content[j]), mark)
		} else {
			w.all(below, d.Content[i+1], mark, true)
		}
	}
	for i := 0; i < len(a.Content); i += 2 {
		if key := a.Content[i]; keyAt(d, key.Value) < 0 {
			w.all(extend(path, yamltext.Key(key.Value)), a.Content[i+1], markA || isMarked(key), false)
		}
	}
}

func keyAt(n *yaml.Node, key string) int {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// lists compares two lists: what both have, in the same order, is the same; of
// what lies between, items are compared one by one.
func (w *walker) lists(path yamltext.Path, a, d *yaml.Node, markA, markD bool) {
	i, j := 0, 0
	for _, m := range append(common(a.Content, d.Content), [2]int{len(a.Content), len(d.Content)}) {
		for ; i < m[0] && j < m[1]; i, j = i+1, j+1 {
			w.compare(extend(path, yamltext.Index(j)), a.Content[i], d.Content[j], markA, markD)
		}
		for ; i < m[0]; i++ {
			w.all(extend(path, yamltext.Index(i)), a.Content[i], markA, false)
		}
		for ; j < m[1]; j++ {
			w.all(extend(path, yamltext.Index(j)), d.Content[j], markD, true)
		}
		i, j = i+1, j+1
	}
}

// longest is the product of lengths up to which two lists are aligned; longer
// ones are compared item by item.
const longest = 1 << 20

// common are the indexes of a longest common subsequence.
func common(a, d []*yaml.Node) (pairs [][2]int) {
	x, y := make([]string, len(a)), make([]string, len(d))
	for i, n := range a {
		x[i] = canonical(n)
	}
	for i, n := range d {
		y[i] = canonical(n)
	}
	if slices.Equal(x, y) || len(a)*len(d) > longest {
		return nil
	}
	length := make([][]int, len(x)+1)
	for i := range length {
		length[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// canonical is a text that two values share if and only if they are the same.
func canonical(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		tag, value := scalar(n)
		return fmt.Sprintf("%s %q", tag, value)
	}
	parts := make([]string, 0, len(n.Content))
	for i, c := range n.Content {
		if n.Kind == yaml.SequenceNode {
			parts = append(parts, canonical(c))
		} else if i%2 == 1 {
			parts = append(parts, fmt.Sprintf("%q: %s", n.Content[i-1].Value, canonical(c)))
		}
	}
	if n.Kind == yaml.MappingNode {
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func same(a, d *yaml.Node) bool { return canonical(a) == canonical(d) }

// scalar is the type of a scalar and its value in one form: 0x10 is 16, yes is
// a text.
func scalar(n *yaml.Node) (tag, value string) {
	tag, value = n.ShortTag(), n.Value
	var v any
	if tag != "!!str" && n.Decode(&v) == nil {
		value = fmt.Sprint(v)
	}
	return tag, value
}
