package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/schemas"
)

// follow adds to the nodes of a cluster those that its autoscaler made, of pools with
// discovery: what Git changes in their configuration reaches them too.
func (n *nodeStage) follow(c *nodes.Cluster, o cloudplan.Observed) {
	c.Machines = append(c.Machines, n.connect.inventory.autoscaled(o)...)
}

// autoscaled are the nodes that the autoscaler made of the pools that are discovered. A
// server that does not run yet has the newest configuration anyway.
func (inv *inventory) autoscaled(o cloudplan.Observed) (found []nodes.Machine) {
	for _, have := range o.Servers {
		group := have.Labels[schemas.LabelNodeGroup]
		discovered := slices.ContainsFunc(inv.infra.AutoscalerPools, func(p schemas.InfraAutoscalerPool) bool {
			return p.Discovery && p.Group == group
		})
		if !discovered || have.Status != statusRunning {
			continue
		}
		m := nodes.Machine{Name: have.Name, Role: nodeplan.Worker, Group: group, Calls: inv.calls}
		inv.place(&m, have)
		if inv.direct() && have.Labels[schemas.LabelCluster] != inv.infra.Cluster {
			m.Address, m.Unknown = "", "its server has no label cluster, so session access does not lead to it: cluster-autoscaler 1.36 sets it"
		}
		if address := inv.endpoints[m.Name]; address != "" {
			m.Address = address
		}
		found = append(found, m)
	}
	return found
}

// group decrypts the configuration of the nodes that the autoscaler makes for a group,
// once.
func (t *treeNodes) group(ctx context.Context, group string) (*nodeconfig.Config, error) {
	if config := t.groups[group]; config != nil {
		return config, nil
	}
	config, err := t.env.config(ctx, autoscalerDir+group+".yaml")
	if err != nil {
		return nil, err
	}
	if t.groups == nil {
		t.groups = map[string]*nodeconfig.Config{}
	}
	t.groups[group] = config
	return config, nil
}

// readWith decrypts the configurations of the tree's nodes, and those of nodes that the
// autoscaler made.
func (t *treeNodes) readWith(ctx context.Context, machines []nodes.Machine) (nodeplan.Desired, error) {
	d, err := t.read(ctx)
	if err != nil {
		return d, err
	}
	d.Nodes = slices.Clone(d.Nodes)
	for _, m := range machines {
		if m.Group == "" {
			continue
		}
		config, err := t.group(ctx, m.Group)
		if err != nil {
			return d, err
		}
		d.Nodes = append(d.Nodes, nodeplan.Want{Name: m.Name, Role: m.Role, Config: config, Autoscaled: true})
	}
	return d, nil
}
