package machine

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// GeneratedLayer is the name of the lowest layer, for people.
const GeneratedLayer = "Talos, generated"

// Origin is one layer's say about a value.
type Origin struct {
	Layer string
	Pos   diag.Pos // zero for what Talos generated
	Value string   // what the layer set; the text in the file may differ
	// Secret says that this value is secret, also if another one won.
	Secret bool
}

// Traced is a value of a configuration with the layers that had a say about it,
// lowest first: the last one set it, the others were overridden.
type Traced struct {
	Document ID
	Leaf     yamltext.Leaf
	Secret   bool
	Origins  []Origin
}

// Trace makes a configuration layer by layer, and remembers for each value
// which of them set it.
func Trace(base *Config, patches []*Patch) ([]Traced, error) {
	t := tracer{origins: map[string][]Origin{}}
	if err := t.start(base); err != nil {
		return nil, err
	}
	cfg := base
	for _, p := range patches {
		next, _, err := cfg.Apply([]*Patch{p})
		if err != nil {
			return nil, err
		}
		if err := t.step(cfg, next, p); err != nil {
			return nil, err
		}
		cfg = next
	}
	return t.result(cfg)
}

// tracer holds the origins of every value of the configuration so far.
type tracer struct {
	origins map[string][]Origin // by document and path
}

func traceKey(id ID, path yamltext.Path) string { return id.String() + "\x00" + path.String() }

func (t *tracer) start(base *Config) error {
	for _, d := range base.docs {
		leaves, err := d.Leaves()
		if err != nil {
			return err
		}
		for i := range leaves {
			t.origins[traceKey(d.ID, leaves[i].Path)] = []Origin{{Layer: GeneratedLayer, Value: leaves[i].Value}}
		}
	}
	return nil
}

// step attributes what a patch changed, and what it set to what it was.
func (t *tracer) step(before, after *Config, p *Patch) error {
	for _, d := range after.docs {
		var pd *patchDoc
		for _, candidate := range p.docs {
			if candidate.id == d.ID {
				pd = candidate
			}
		}
		old := before.Document(d.ID)
		if pd == nil || old == d {
			continue
		}
		if err := t.document(old, d, p, pd); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracer) document(old, d *Document, p *Patch, pd *patchDoc) error {
	leaves, err := d.Leaves()
	if err != nil {
		return err
	}
	var before []yamltext.Leaf
	if old != nil {
		if before, err = old.Leaves(); err != nil {
			return err
		}
	}
	moved := t.carry(d.ID, before, leaves)
	set := assign(pd.node, leaves)
	for i := range leaves {
		l := &leaves[i]
		origins := moved[i]
		if at := set[i]; at != nil {
			origins = append(origins[:len(origins):len(origins)], Origin{Layer: p.Layer, Pos: nodePos(p.File, at), Value: l.Value})
		} else if len(origins) == 0 {
			// Set, but under another form than the patch's: name its document.
			origins = []Origin{{Layer: p.Layer, Pos: nodePos(p.File, pd.node), Value: l.Value}}
		}
		t.origins[traceKey(d.ID, l.Path)] = origins
	}
	return nil
}

// carry finds, for each leaf of the changed document, the origins that it had.
// Items of lists may have moved: they are known again by their values.
func (t *tracer) carry(id ID, before, after []yamltext.Leaf) [][]Origin {
	byPath := map[string]*yamltext.Leaf{}
	used := map[string]bool{}
	for i := range before {
		byPath[before[i].Path.String()] = &before[i]
	}
	moved := make([][]Origin, len(after))
	for i := range after {
		path := after[i].Path.String()
		old := byPath[path]
		if old == nil || (inList(after[i].Path) && old.Value != after[i].Value) {
			old = sameInList(before, &after[i], used)
		}
		if old == nil {
			old = byPath[path]
		}
		if old != nil {
			used[old.Path.String()] = true
			moved[i] = t.origins[traceKey(id, old.Path)]
		}
	}
	return moved
}

func inList(path yamltext.Path) bool {
	for _, e := range path {
		if e.Index >= 0 {
			return true
		}
	}
	return false
}

// sameInList finds a leaf that stood at another index of the same list.
func sameInList(before []yamltext.Leaf, l *yamltext.Leaf, used map[string]bool) *yamltext.Leaf {
	pattern := l.Path.Pattern()
	for i := range before {
		b := &before[i]
		if b.Value == l.Value && b.Path.Pattern() == pattern && !used[b.Path.String()] {
			return b
		}
	}
	return nil
}

// result lists the values of the finished configuration.
func (t *tracer) result(cfg *Config) ([]Traced, error) {
	var all []Traced
	for _, d := range cfg.docs {
		leaves, err := d.Leaves()
		if err != nil {
			return nil, err
		}
		secret, err := cfg.Secret(d)
		if err != nil {
			return nil, err
		}
		for i, l := range leaves {
			origins := slices.Clone(t.origins[traceKey(d.ID, l.Path)])
			for j := range origins {
				origins[j].Secret = secret[i] || cfg.secretValue(d.ID, &l, origins[j].Value)
			}
			all = append(all, Traced{Document: d.ID, Leaf: l, Secret: secret[i], Origins: origins})
		}
	}
	return all, nil
}

// secretValue reports whether a value would be secret in place of a leaf's.
func (c *Config) secretValue(id ID, l *yamltext.Leaf, value string) bool {
	other := *l
	other.Value = value
	pattern := l.Path.Pattern()
	return value != "" && slices.ContainsFunc(c.taints, func(t *Taint) bool { return t.isSecret(id, pattern, &other) })
}

// assign finds, for each leaf of a document, the node of the patch that set it;
// nil for those that the patch says nothing about. Keys are the same on both
// sides. Where Talos put an item of a list cannot be seen from the patch, so
// items are matched by what they hold, the last match first: lists are
// appended to.
func assign(patch *yaml.Node, leaves []yamltext.Leaf) []*yaml.Node {
	set := make([]*yaml.Node, len(leaves))
	root := treeOf(leaves)
	match(patch, root, set)
	return set
}

// valueTree is a document as a tree of its leaves.
type valueTree struct {
	leaf  int // index of the leaf, -1 inside
	value string
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
		v.keys = map[string]*valueTree{}
	}
	if v.keys[e.Key] == nil {
		v.keys[e.Key] = &valueTree{leaf: -1}
	}
	return v.keys[e.Key]
}

// match walks a patch and the tree that it was merged into.
func match(n *yaml.Node, at *valueTree, set []*yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if at.leaf >= 0 {
		set[at.leaf] = n
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if next := at.keys[n.Content[i].Value]; next != nil {
				match(n.Content[i+1], next, set)
			}
		}
	case yaml.SequenceNode:
		taken := map[int]bool{}
		for i := len(n.Content) - 1; i >= 0; i-- {
			if j := findItem(n.Content[i], at.items, taken); j >= 0 {
				taken[j] = true
				match(n.Content[i], at.items[j], set)
			}
		}
	default:
		// One value in the patch became several: a duration, an address.
		for _, next := range at.keys {
			match(n, next, set)
		}
	}
}

// findItem finds the item of a list that holds everything that an item of a
// patch does; failing that, one that has the same first key.
func findItem(n *yaml.Node, items []*valueTree, taken map[int]bool) int {
	for j := len(items) - 1; j >= 0; j-- {
		if !taken[j] && holds(items[j], n, true) {
			return j
		}
	}
	for j := len(items) - 1; j >= 0; j-- {
		if !taken[j] && n.Kind == yaml.MappingNode && holds(items[j], n, false) {
			return j
		}
	}
	return -1
}

// holds reports whether a tree has all values of a node, or, with all unset,
// that of its first key.
func holds(v *valueTree, n *yaml.Node, all bool) bool {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			next := v.keys[n.Content[i].Value]
			if next == nil || !holds(next, n.Content[i+1], all) {
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
