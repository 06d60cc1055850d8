package nodes

import (
	"cmp"
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/nodeplan"
	"github.com/talosgen/talosgen/apply/nodeplan/nodeconfig"
)

// Observed is what a plan is made from: what was seen, and what Kubernetes
// knows.
func (c *Cluster) Observed(ctx context.Context, sights []Sight) (nodeplan.Observed, error) {
	o := observed(sights)
	// Without a control plane there is no Kubernetes to ask.
	if c.Kubernetes == nil || len(serving(sights)) == 0 {
		return o, nil
	}
	if !c.Forgetful {
		intent, err := c.Intents.Intent(ctx)
		if err != nil {
			return o, err
		}
		o.Unrecorded = !intent.Done
	}
	registered, err := c.registered(ctx)
	switch {
	case ctx.Err() != nil:
		return o, interrupted(ctx)
	case err != nil:
		o.Silent = problem(err)
	}
	for _, r := range registered {
		if i := slices.IndexFunc(o.Nodes, func(n nodeplan.Node) bool { return n.Name == r.Name }); i >= 0 {
			o.Nodes[i].Registered, o.Nodes[i].Drained = true, r.Drained
		}
	}
	return o, nil
}

// observed is what sights say by themselves.
func observed(sights []Sight) (o nodeplan.Observed) {
	for _, s := range sights {
		n := nodeplan.Node{
			Name: s.Machine.Name, Role: s.Machine.Role, Reach: s.Reach, Reason: s.Reason, Proof: s.Proof, Stage: s.Stage,
			BootID: s.BootID, ConfigVersion: s.ConfigVersion, Config: s.Config,
		}
		if s.Config != nil {
			n.Role = role(s.Config)
		}
		o.Nodes = append(o.Nodes, n)
	}
	o.Members, o.Known = members(sights)
	o.Running = running(sights)
	return o
}

// roles of Talos, in the words of [nodeplan].
var roles = map[string]string{"controlplane": nodeplan.ControlPlane, "init": nodeplan.ControlPlane, "worker": nodeplan.Worker}

func role(c *nodeconfig.Config) string { return cmp.Or(roles[c.MachineType()], c.MachineType()) }

// running are the oldest versions that control planes run, while they may be
// about to be upgraded: everything works with the older one.
func running(sights []Sight) (r nodeconfig.Running) {
	for _, s := range sights {
		if !s.Machine.controlPlane() || s.Config == nil {
			continue
		}
		r.Talos = nodeconfig.Older(r.Talos, s.Talos)
		// Before etcd, nothing of Kubernetes runs yet.
		if s.Stage == node.StageRunning {
			r.Kubernetes = nodeconfig.Older(r.Kubernetes, s.Config.Kubernetes())
		}
	}
	return r
}
