package render

import (
	"slices"

	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/reuse"
	"github.com/talosgen/talosgen/render/internal/tree"
	"github.com/talosgen/talosgen/schemas"
)

// addonsPart names all that addons are rendered to, among the parts of a tree that
// there are warnings of. Nodes have the names of their files.
const addonsPart = "addons"

// lastRender is what a render may take over from the one before. A nil one has
// nothing to take over.
type lastRender struct {
	*tree.Written
	parts  *reuse.Parts
	warned map[string]bool
}

// lastRender prepares the tree of the last render. It is nil unless this talosgen
// wrote the tree for this cluster, in the present format, and its seal is genuine:
// whoever cannot decrypt the tree cannot make a render keep what it did not write.
func (c *compiler) lastRender(w *tree.Written) *lastRender {
	origin := rendered.Origin{Talosgen: c.Repo.Process.Version, Environment: c.Name, Cluster: c.Config.ClusterName}
	if w == nil || w.Lock.Origin != origin || w.Lock.Outdated() || w.Lock.VerifySeal(c.secrets.Operator.Derive(rendered.SealLabel)) != nil {
		return nil
	}
	parts := reuse.Compare(reuse.Sources{
		Env: c.Name, Was: w.Lock.Inputs, Is: c.Inputs, Nodes: refs(c.All()), Layers: c.Layers, AddonPaths: c.addonPaths(),
	})
	if parts == nil {
		return nil
	}
	l := &lastRender{Written: w, parts: parts, warned: map[string]bool{}}
	for _, part := range w.Lock.Warned {
		l.warned[part] = true
	}
	return l
}

func refs(nodes []model.Node) []layer.NodeRef {
	all := make([]layer.NodeRef, len(nodes))
	for i, n := range nodes {
		all[i] = n.Ref()
	}
	return all
}

// addonPaths are the places in the repository that cluster.yaml names as sources of
// addons.
func (p *plan) addonPaths() (paths []string) {
	for _, a := range p.Config.Addons {
		for _, at := range []string{a.Source.Path, a.Source.Chart.Path} {
			if at != "" {
				paths = append(paths, at)
			}
		}
	}
	return paths
}

// keep takes files over, if all are as the lock of the last render says.
func (l *lastRender) keep(paths []string, res *Result) bool {
	if l == nil || slices.ContainsFunc(paths, func(path string) bool { return !l.Has(path) }) {
		return false
	}
	res.kept = append(res.kept, paths...)
	return true
}

// node takes the file of a node over, if it would be made of the same sources, and
// there was nothing to warn of.
func (l *lastRender) node(n model.Node, res *Result) bool {
	return l != nil && !l.warned[n.File()] && l.parts.Node(n.Ref()) && l.keep([]string{n.File()}, res)
}

// addons takes all files of addons over, if they would be made of the same sources,
// and there was nothing to warn of.
func (l *lastRender) addons(p *plan, res *Result) bool {
	if l == nil || l.warned[addonsPart] || len(p.Broken) > 0 || !l.parts.Addons(refs(p.Autoscaled)) {
		return false
	}
	others := map[string]bool{schemas.InfrastructureFile: true, schemas.HostKeyFile: true, schemas.NotificationsFile: true}
	for _, n := range p.All() {
		others[n.File()] = true
	}
	var paths []string
	for _, e := range l.Lock.Outputs {
		if !others[e.Path] {
			paths = append(paths, e.Path)
		}
	}
	return l.keep(paths, res)
}
