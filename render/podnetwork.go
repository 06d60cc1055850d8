package render

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/ownership"
	"github.com/talosgen/talosgen/schemas"
)

// warnNoPodNetwork warns of a cluster in which Flux cannot start: no node is ready
// without a network of pods, and Flux, whose pods wait for one, would have to
// bring it.
func (c *compiler) warnNoPodNetwork() {
	if g := c.Config.GitOps; c.Config.CNI.Type != "none" || g.Engine == schemas.NoEngine || g.Components == schemas.Existing {
		return
	}
	first := slices.IndexFunc(c.Nodes, func(n model.Node) bool { return n.MachineRole() == machine.ControlPlane })
	if first < 0 {
		return
	}
	cfg, err := c.configs.Compose(c.Nodes[first])
	if err != nil || cfg == nil {
		return // reported where the node is rendered
	}
	m := ownership.Machine{File: c.Nodes[first].File(), Documents: mappings(cfg), Parse: manifest.Parse}
	if ownership.BringsPodNetwork(m) {
		return
	}
	engine := schemas.EngineTitle(c.Config.GitOps.Engine)
	c.warnings.Add(diag.New(c.Config.Near("cni.type"), "nothing brings a network of pods before %[1]s: its pods wait for a node that is ready, and no node is without one", engine).
		WithHint("have Talos apply it (kubernetes.inlineManifests or kubernetes.remoteManifests), set cni.type: cilium,\n"+
			"or install it yourself while apply waits for %s", engine))
}

// mappings are the documents of a configuration.
func mappings(cfg *machine.Config) (all []map[string]any) {
	for _, d := range cfg.Documents() {
		var m map[string]any
		if text, err := d.Text(); err == nil && yaml.Unmarshal(text, &m) == nil {
			all = append(all, m)
		}
	}
	return all
}
