package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/schemas"
)

// treeDisks are the disks of the machines of a tree that Talos is installed on.
type treeDisks struct {
	env       *Environment
	simulated bool // a simulated machine has a disk that cluster.yaml names, and no other
}

// of reads the disk of a node from its configuration: a patch may select it. It is nil
// for a server at Hetzner Cloud, whose only disk has Talos already.
func (t treeDisks) of(ctx context.Context, name string) (*node.DiskSelector, error) {
	machines := t.env.Infrastructure.Machines
	i := slices.IndexFunc(machines, func(m schemas.InfraMachine) bool { return m.Name == name })
	if i < 0 || t.simulated && machines[i].InstallDisk == "" {
		return nil, nil
	}
	config, err := t.env.config(ctx, nodeFile(name))
	if err != nil {
		return nil, err
	}
	section, match, err := config.Install()
	if err != nil {
		return nil, err
	}
	return node.SelectDisk(section, match)
}
