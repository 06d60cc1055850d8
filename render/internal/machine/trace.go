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
	t := tracer{origins: map[ID][][]Origin{}}
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

// tracer holds the origins of every value of the configuration so far, by
// document and in the order of its leaves.
type tracer struct {
	origins map[ID][][]Origin
}

func (t *tracer) start(base *Config) error {
	for _, d := range base.docs {
		leaves, err := d.Leaves()
		if err != nil {
			return err
		}
		origins := make([][]Origin, len(leaves))
		for i := range leaves {
			origins[i] = []Origin{{Layer: GeneratedLayer, Value: leaves[i].Value}}
		}
		t.origins[d.ID] = origins
	}
	return nil
}

// step attributes what a patch changed, and what it set to what it was.
func (t *tracer) step(before, after *Config, p *Patch) error {
	for _, pd := range p.docs {
		d, old := after.Document(pd.id), before.Document(pd.id)
		if d == nil || old == d {
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
	origins := make([][]Origin, len(leaves))
	root := treeOf(leaves)
	if old != nil {
		before, err := old.Leaves()
		if err != nil {
			return err
		}
		carry(treeOf(before), root, t.origins[d.ID], origins)
	}
	set := make([]*yaml.Node, len(leaves))
	(&matcher{set, origins}).match(pd.node, root)
	for i := range leaves {
		l := &leaves[i]
		if at := set[i]; at != nil {
			origins[i] = append(origins[i][:len(origins[i]):len(origins[i])], Origin{Layer: p.Layer, Pos: nodePos(p.File, at), Value: l.Value})
		} else if len(origins[i]) == 0 {
			// Set, but in another form than the patch's: name what holds it.
			origins[i] = []Origin{{Layer: p.Layer, Pos: nodePos(p.File, nodeAt(pd.node, l.Path)), Value: l.Value}}
		}
	}
	t.origins[d.ID] = origins
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
			origins := slices.Clone(t.origins[d.ID][i])
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
	return value != "" && slices.ContainsFunc(c.taints, func(t *Taint) bool { return t.isSecret(id, pattern, &other, c.Readable) })
}
