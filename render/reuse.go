package render

import (
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
	lock   *rendered.Lock
	parts  *reuse.Parts
	files  *tree.Written
	warned map[string]bool
}

// lastRender opens the tree of the last render. It is nil unless this talosgen wrote
// the tree for this cluster, in the present format, and its seal is genuine: whoever
// cannot decrypt the tree cannot make a render keep what it did not write.
func (c *compiler) lastRender() *lastRender {
	lock, err := c.Repo.ReadLock(c.Name)
	origin := rendered.Origin{Talosgen: c.Repo.World.Version, Environment: c.Name, Cluster: c.Config.ClusterName}
	if err != nil || lock.Origin != origin || lock.Outdated() || lock.VerifySeal(c.secrets.Operator.Derive(rendered.SealLabel)) != nil {
		return nil // nothing is lost but time; what is wrong with the tree, writing it says
	}
	parts := reuse.Compare(reuse.Sources{
		Env: c.Name, Was: lock.Inputs, Is: c.Inputs, Nodes: refs(c.All()), Layers: c.Layers, AddonPaths: c.addonPaths(),
	})
	if parts == nil {
		return nil
	}
	files, err := tree.OpenWritten(c.Repo.TreeDir(c.Name), lock)
	if err != nil {
		return nil
	}
	l := &lastRender{lock: lock, parts: parts, files: files, warned: map[string]bool{}}
	for _, part := range lock.Warned {
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

// close ends the reading of the tree.
func (l *lastRender) close() {
	if l != nil {
		l.files.Close()
	}
}

// node returns the file of a node, if it would be made of the same sources, and
// there was nothing to warn of.
func (l *lastRender) node(n model.Node) (tree.File, bool) {
	if l == nil || l.warned[n.File()] || !l.parts.Node(n.Ref()) {
		return tree.File{}, false
	}
	return l.files.File(n.File())
}

// addons returns all files of addons, if they would be made of the same sources, and
// there was nothing to warn of.
func (l *lastRender) addons(p *plan) (files []tree.File, same bool) {
	if l == nil || l.warned[addonsPart] || len(p.Broken) > 0 || !l.parts.Addons(refs(p.Autoscaled)) {
		return nil, false
	}
	others := map[string]bool{schemas.InfrastructureFile: true, schemas.HostKeyFile: true}
	for _, n := range p.All() {
		others[n.File()] = true
	}
	for _, e := range l.lock.Outputs {
		if others[e.Path] {
			continue
		}
		file, as := l.files.File(e.Path)
		if !as {
			return nil, false
		}
		files = append(files, file)
	}
	return files, true
}
