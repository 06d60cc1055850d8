package machine

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// Composer makes the configurations of nodes from their layers, applying what
// nodes have in common once. It is not safe for concurrent use.
type Composer struct {
	stages map[stageKey]*stage
}

// stage is where shared patches lead to. Only those that nodes stop at have a
// configuration.
type stage struct {
	cfg      *Config
	warnings diag.List
}

// stageKey is what comes before a stage, and the patch that leads to it; the
// first stage has the base in place of both.
type stageKey struct {
	base   *Config
	before *stage
	patch  *Patch
}

// NewComposer returns a composer that knows nothing yet.
func NewComposer() *Composer { return &Composer{stages: map[stageKey]*stage{}} }

func (c *Composer) stage(key stageKey) *stage {
	s := c.stages[key]
	if s == nil {
		s = &stage{}
		c.stages[key] = s
	}
	return s
}

// Compose applies the layers of a node to its base. options are those of the
// node alone, and stand below all patches. What they say is not touched by the
// shared patches as a rule; then they are applied after those, with the same
// result, and the shared patches apply to many nodes at once.
func (c *Composer) Compose(base *Config, options *Patch, patches []*Patch) (*Config, diag.List, error) {
	shared := 0
	for shared < len(patches) && !patches[shared].PerNode {
		shared++
	}
	own := patches[shared:]
	if options != nil {
		if overlap(options, patches[:shared]) {
			return base.Apply(append([]*Patch{options}, patches...))
		}
		own = append([]*Patch{options}, own...)
	}
	common, warnings, err := c.common(base, patches[:shared])
	if err != nil || len(own) == 0 {
		return common, warnings, err
	}
	cfg, more, err := common.Apply(own)
	return cfg, append(warnings[:len(warnings):len(warnings)], more...), err
}

// common applies shared patches, once for each combination.
func (c *Composer) common(base *Config, patches []*Patch) (*Config, diag.List, error) {
	at := c.stage(stageKey{base: base})
	for _, p := range patches {
		at = c.stage(stageKey{before: at, patch: p})
	}
	if at.cfg != nil {
		return at.cfg, at.warnings, nil
	}
	cfg, warnings, err := base.Apply(patches)
	if err != nil {
		return nil, warnings, err
	}
	// Encode now what all will share.
	for _, d := range cfg.docs {
		if _, err := d.Leaves(); err != nil {
			return nil, warnings, err
		}
	}
	at.cfg, at.warnings = cfg, warnings
	return cfg, warnings, nil
}

// overlap reports whether patches mention what options set, or anything that
// could meet it.
func overlap(options *Patch, patches []*Patch) bool {
	for _, od := range options.docs {
		met := false
		eachLeaf(od.node, nil, func(path yamltext.Path) {
			if len(path) == 1 && !od.id.IsMain() && (path[0].Key == "apiVersion" || path[0].Key == "kind" || path[0].Key == "name") {
				return
			}
			met = met || mentioned(patches, od.id, path)
		})
		if met {
			return true
		}
	}
	return false
}

// eachLeaf calls visit with the path of each value of a document; lists count
// as values, and so does what is replaced or removed whole.
func eachLeaf(n *yaml.Node, path yamltext.Path, visit func(yamltext.Path)) {
	if n.Kind != yaml.MappingNode || n.Tag == tagReplace || n.Tag == tagDelete {
		visit(path)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		eachLeaf(n.Content[i+1], append(path[:len(path):len(path)], yamltext.Key(n.Content[i].Value)), visit)
	}
}
