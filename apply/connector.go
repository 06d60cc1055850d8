package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

// connector prepares to talk to the nodes of a cluster.
type connector struct {
	env       *Environment
	project   *cloud.Client // nil for machines that exist already
	inventory *inventory
	reach     *nodeReach
	kube      *kubeReach
	signer    *signer
	clock     cloud.Clock
	log       *runLog
	lock      *locker
	records   nodes.Records
	intents   nodes.Intents
	snapshot  nodes.Snapshot
	recovery  nodes.Recovery // nil: there is none
	disks     treeDisks
}

// nodes looks where nodes are, and prepares to talk to them.
func (c *connector) nodes(ctx context.Context) (*nodes.Cluster, error) {
	_, cluster, err := c.found(ctx)
	return cluster, err
}

// found is what there is in the project, and the nodes that are there.
func (c *connector) found(ctx context.Context) (o cloudplan.Observed, cluster *nodes.Cluster, err error) {
	if c.reach.dial == nil {
		return o, nil, diag.On("environment "+c.env.name, "there are no nodes behind simulated servers").WithCode(diag.Usage)
	}
	if o, err = c.observe(ctx); err != nil {
		return o, nil, err
	}
	cluster, err = c.at(ctx, o, nil)
	return o, cluster, err
}

// observe looks what there is in the project.
func (c *connector) observe(ctx context.Context) (o cloudplan.Observed, err error) {
	err = c.log.stage("observe", 0, func(progress.Stage) (err error) {
		if c.project != nil {
			o, err = c.project.Observe(ctx, c.env.Infrastructure)
		}
		return err
	})
	return o, err
}

// at prepares to talk to the nodes that were observed, among them those that this
// run is making. Nothing is asked yet, but this machine is let in.
func (c *connector) at(ctx context.Context, o cloudplan.Observed, making []string) (*nodes.Cluster, error) {
	cluster := &nodes.Cluster{
		Name: c.env.Infrastructure.Cluster, Machines: c.inventory.machines(o, making), Clock: keepingClock{c.clock, c.lock.held}, Patience: nodes.DefaultPatience(),
		Clients: &c.reach.clients, Credentials: func() (node.Credentials, error) { return c.signer.nodes(ctx) },
		Records: c.records, Intents: c.intents, Forgetful: c.project == nil, Run: c.lock.owner.Run, Snapshot: c.snapshot, Recovery: c.recovery,
		Keep: c.lock.held.keep, Disks: c.disks.of, RebootMode: node.RebootMode(c.env.Infrastructure.Reboots.Mode),
	}
	if !slices.ContainsFunc(cluster.Machines, func(m nodes.Machine) bool { return !m.New && m.Address != "" }) {
		return cluster, nil // nobody to talk to
	}
	if err := c.reach.open.open(ctx, o); diag.CodeOf(err) == diag.Secrets && c.lock.held.lock == nil {
		// Whoever only reads may look at what can be seen without.
		for i := range cluster.Machines {
			cluster.Machines[i].Address, cluster.Machines[i].Unknown = "", "you are not let in: "+oneLine(err)
		}
		cluster.Refused = err
		return cluster, nil
	} else if err != nil {
		return nil, err
	}
	var err error
	if cluster.Through, err = c.reach.transport(o); err != nil {
		return nil, err
	}
	api, _ := c.api(cluster)
	cluster.Kubernetes, cluster.RegisteredNow = api, api.once
	return cluster, nil
}

// api is the Kubernetes API of a cluster as its control planes serve it. There is
// none if none of its nodes can be reached.
func (c *connector) api(cluster *nodes.Cluster) (api controlPlaneAPI, known bool) {
	if cluster.Through == nil {
		return controlPlaneAPI{}, false
	}
	api = controlPlaneAPI{reach: c.kube, through: cluster.Through}
	for _, m := range cluster.Machines {
		if m.Role == nodeplan.ControlPlane {
			api.machines = append(api.machines, m)
		}
	}
	return api, true
}
