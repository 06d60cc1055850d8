package apply

import (
	"context"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/schemas"
)

// upgrade reads from the tree what an upgrade of the nodes leads to.
func (t *treeNodes) upgrade(ctx context.Context) (upgradeplan.Desired, error) {
	infra := &t.env.Infrastructure
	d := upgradeplan.Desired{Cluster: infra.Cluster, Pools: map[string]upgradeplan.Want{}}
	desired, err := t.read(ctx)
	if err != nil {
		return d, err
	}
	extensions := extensionsOf(infra.Images)
	for _, n := range desired.Nodes {
		w := wanted(n.Config, extensions)
		w.Name, w.Role, w.Pool = n.Name, n.Role, t.pool(n.Name)
		d.Nodes = append(d.Nodes, w)
	}
	for _, p := range infra.AutoscalerPools {
		config, err := t.env.config(ctx, autoscalerDir+p.Group+".yaml")
		if err != nil {
			return d, err
		}
		w := wanted(config, extensions)
		w.Role, w.Pool, w.Group = upgradeplan.Worker, p.Name, p.Group
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
	image := c.Installer()
	i := upgradeplan.ParseInstaller(image)
	return upgradeplan.Want{
		Talos: c.Talos(), Kubernetes: c.Kubernetes(), Installer: i.Repository, Schematic: i.Schematic, Platform: i.Platform,
		SecureBoot: i.SecureBoot, Extensions: extensions[i.Schematic], Images: c.Images(), Contract: c.Contract(),
	}
}

// extensionsOf are the names of the extensions in images, by the id of the schematic.
// Of one that only the Image Factory knows nothing is told.
func extensionsOf(images []schemas.InfraSnapshot) map[string][]string {
	all := map[string][]string{}
	for _, i := range images {
		var schematic struct {
			Customization struct {
				SystemExtensions struct {
					OfficialExtensions []string `yaml:"officialExtensions"`
				} `yaml:"systemExtensions"`
			} `yaml:"customization"`
		}
		id := schematicOf(i.URL)
		if i.Schematic == "" || id == "" || yaml.Unmarshal([]byte(i.Schematic), &schematic) != nil {
			continue
		}
		all[id] = []string{}
		for _, name := range schematic.Customization.SystemExtensions.OfficialExtensions {
			all[id] = append(all[id], path.Base(name))
		}
	}
	return all
}

// schematicOf is the id in the URL of an image; empty if there is none.
func schematicOf(url string) string {
	const hex = "0123456789abcdef"
	parts := strings.Split(url, "/")
	i := slices.IndexFunc(parts, func(p string) bool { return len(p) == 64 && strings.Trim(p, hex) == "" })
	if i < 0 {
		return ""
	}
	return parts[i]
}

// names are those of the tree's nodes.
func (t *treeNodes) names() (names []string) {
	for _, m := range t.inventory.machines(cloudplan.Observed{}, nil) {
		names = append(names, m.Name)
	}
	return names
}
