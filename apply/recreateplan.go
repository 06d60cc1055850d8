package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/recreate"
	"github.com/talosgen/talosgen/schemas"
)

// recreating plans which nodes are made anew, from what was observed for a plan.
type recreating struct {
	infra *schemas.Infrastructure
	kube  *kubeReach
	// What the run does of a plan of the infrastructure; nil: it makes no servers.
	part part
	// Whether the infrastructure is planned with what follows from nodes, as in a saved
	// plan.
	planned bool
}

// plan adds to a plan which nodes are made anew, and makes the infrastructure of it anew
// with that. It returns the policy for the section of nodes.
func (r recreating) plan(ctx context.Context, c *nodes.Cluster, p *Plan, policy nodeplan.Policy, d nodeplan.Desired, o nodeplan.Observed) (nodeplan.Policy, error) {
	if r.part == nil {
		return policy, nil
	}
	servers := slices.DeleteFunc(slices.Clone(p.Plan.Recreate), func(s cloudplan.Recreation) bool {
		return len(policy.Only) > 0 && !slices.Contains(policy.Only, s.Node)
	})
	found := recreate.Find(servers, nodeplan.OnlyNew(d, o, policy), r.pools())
	if len(found.Nodes) == 0 && len(allSurge(*r.infra)) == 0 {
		return policy, nil
	}
	consent := p.consented
	if len(found.Nodes) > 0 {
		p.Recreate = found
		r.volumes(ctx, c, found)
		found.Agree(consent)
		policy.Recreate, policy.Forced = found.DueNames(), found.DueNames()
	}
	consent.Rebuild, consent.Keep = found.Rebuild(), found.Keep()
	var leave []string
	if !r.planned {
		leave = r.surge(ctx, c, p, &consent, policy.Only)
		*r.infra = surging(*r.infra, consent.Surge)
	}
	found.Surge = consent.Surge
	if !r.planned && r.infra.Provider == schemas.Hetzner && len(consent.Rebuild)+len(consent.Keep)+len(consent.Surge)+len(leave) > 0 {
		again, err := cloudplan.Make(*r.infra, p.Observed, consent)
		if err != nil {
			return policy, err
		}
		again.Warnings = p.Plan.Warnings
		p.Plan = r.part(again)
	}
	p.consented = consent
	policy.Allow = append(slices.Clip(policy.Allow), leave...)
	return policy, found.Leave(func(name string) (*nodeplan.Plan, error) {
		return leaving(d, o, slices.ContainsFunc(r.infra.Machines, func(m schemas.InfraMachine) bool { return m.Name == name }), name)
	})
}

// leaving is how a node leaves that is made anew, with consent.
func leaving(d nodeplan.Desired, o nodeplan.Observed, wipe bool, name string) (*nodeplan.Plan, error) {
	return nodeplan.PlanRecreate(d, o, nodeplan.Policy{Allow: []string{name}}, wipe, name)
}

// volumes notes which volumes go with nodes.
func (r recreating) volumes(ctx context.Context, c *nodes.Cluster, found *recreate.Plan) {
	if !r.kube.serves() || c.Through == nil {
		return
	}
	api := controlPlaneAPI{reach: r.kube, through: c.Through}
	for _, m := range c.Machines {
		if m.Role == nodeplan.ControlPlane {
			api.machines = append(api.machines, m)
		}
	}
	var volumes []recreate.Bound
	err := api.do(ctx, func(client *kube.Client) (err error) {
		volumes, err = kube.BoundVolumes(ctx, client)
		return err
	})
	if err != nil {
		found.Unknown(oneLine(err))
		return
	}
	found.Lose(volumes)
}

// pools are those of the tree's nodes.
func (r recreating) pools() map[string]string {
	pools := map[string]string{}
	for _, s := range r.infra.Servers {
		pools[s.Name] = s.Pool
	}
	for _, m := range r.infra.Machines {
		pools[m.Name] = m.Pool
	}
	return pools
}

// surge decides which nodes pools have beside their own: those of pools of which workers
// are made anew. One that an earlier run has left, and that none needs any more, goes by
// the consent that it was made by: these are returned.
func (r recreating) surge(ctx context.Context, c *nodes.Cluster, p *Plan, consent *plan.Consent, only []string) (leave []string) {
	for _, s := range allSurge(*r.infra) {
		needed := slices.ContainsFunc(p.Recreate.Due(), func(n recreate.Node) bool { return n.Pool == s.Pool })
		there := slices.ContainsFunc(p.Observed.Servers, func(o cloudplan.Server) bool { return o.Name == s.Name })
		switch {
		case len(only) > 0: // the node more is none of them
		case needed:
			consent.Surge = append(consent.Surge, s.Name)
		case there && consent.Recreates(s.Name, s.Pool) && len(r.keeps(ctx, c, s, *consent)) == 0:
			leave = append(leave, s.Name)
		}
	}
	consent.Allow = append(slices.Clip(consent.Allow), leave...)
	return leave
}

// keeps are the volumes that keep a node that stood in for others: they are on its disk,
// and nobody agreed to lose them.
func (r recreating) keeps(ctx context.Context, c *nodes.Cluster, s schemas.InfraServer, consent plan.Consent) []recreate.Volume {
	if consent.LosesVolumes(s.Name, s.Pool) {
		return nil
	}
	one := &recreate.Plan{Nodes: []recreate.Node{{Name: s.Name}}}
	r.volumes(ctx, c, one)
	return one.Nodes[0].Volumes
}
