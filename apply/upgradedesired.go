package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// upgrade reads from the tree what an upgrade of the nodes leads to.
func (t *treeNodes) upgrade(ctx context.Context) (upgradeplan.Desired, error) {
	infra := &t.env.Infrastructure
	d := upgradeplan.Desired{Cluster: infra.Cluster, Pools: map[string]upgradeplan.Want{}}
	desired, err := t.read(ctx)
	if err != nil {
		return d, err
	}
	extensions := image.Known(infra.Images)
	for _, n := range desired.Nodes {
		w := wanted(n.Config, extensions)
		w.Name, w.Role, w.Pool = n.Name, n.Role, t.pool(n.Name)
		d.Nodes = append(d.Nodes, w)
	}
	for _, p := range infra.AutoscalerPools {
		config, err := t.group(ctx, p.Group)
		if err != nil {
			return d, err
		}
		w := wanted(config, extensions)
		w.Role, w.Pool, w.Group, w.Server, w.Left = upgradeplan.Worker, p.Name, p.Group, p.Type, !p.Discovery
		d.Pools[p.Name] = w
	}
	return d, nil
}

// pool is the pool that a node of the tree is of.
func (t *treeNodes) pool(name string) string {
	for _, s := range t.env.Infrastructure.Servers {
		if s.Name == name {
			return s.Pool
		}
	}
	for _, m := range t.env.Infrastructure.Machines {
		if m.Name == name {
			return m.Pool
		}
	}
	return ""
}

// wanted is what a configuration asks for. Extensions are those of images by the
// schematic's id, as far as the tree tells them.
func wanted(c *nodeconfig.Config, extensions map[string][]string) upgradeplan.Want {
	i := upgradeplan.ParseInstaller(c.Installer())
	return upgradeplan.Want{
		Talos: c.Talos(), Kubernetes: c.Kubernetes(), Installer: i.Repository, Schematic: i.Schematic, Platform: i.Platform,
		SecureBoot: i.SecureBoot, Extensions: extensions[i.Schematic], Images: c.Images(), Contract: c.Contract(), Sets: c.Sets(),
	}
}
