package apply

import (
	"cmp"
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/recreate"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// withSurge lets the tree have, of the nodes that pools have beside their own for a time,
// those of some names, and no others.
func (e *Environment) withSurge(names []string) {
	e.Infrastructure = surging(e.Infrastructure, names)
}

// surging is an infrastructure with some of the servers that pools have for a time among
// those that there should be.
func surging(i schemas.Infrastructure, names []string) schemas.Infrastructure {
	all := i.Surge
	servers := slices.DeleteFunc(slices.Clone(i.Servers), func(s schemas.InfraServer) bool {
		if s.Surge {
			all = append(slices.Clip(all), s)
		}
		return s.Surge
	})
	i.Servers, i.Surge = servers, nil
	sorting.By(all, func(a, b schemas.InfraServer) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range all {
		if slices.Contains(names, s.Name) {
			i.Servers = append(i.Servers, s)
		} else {
			i.Surge = append(i.Surge, s)
		}
	}
	return i
}

// allSurge are the servers that pools may have for a time, whether or not they have
// them now.
func allSurge(i schemas.Infrastructure) []schemas.InfraServer { return surging(i, nil).Surge }

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

// leave takes a node out of the cluster that stood in for others, and deletes its server.
func (s *recreateStage) leave(ctx context.Context, r *run, name string) error {
	env := s.cloud.env
	at := slices.IndexFunc(env.Infrastructure.Servers, func(x schemas.InfraServer) bool { return x.Name == name })
	c, err := s.nodes.connect.at(ctx, r.report.Left.Observed, nil)
	if at < 0 || err != nil {
		return err
	}
	server := env.Infrastructure.Servers[at]
	volumes := recreating{infra: &env.Infrastructure, kube: s.nodes.connect.kube}.keeps(ctx, c, server, r.policy.Consent)
	if len(volumes) > 0 {
		return diag.On("node "+name, "it stood in for nodes of the pool %s that were recreated, and stays: %s", server.Pool, volumes[0]).
			WithHint("move what is on its disk, and apply again; or agree to lose it: --allow %s%s", plan.VolumesKey, server.Pool).WithCode(diag.Differences)
	}
	which := Removal{Nodes: []string{name}}
	leaves, err := s.removal.plan(ctx, which)
	if err == nil {
		err = refused(leaves.Refusals)
	}
	if err != nil {
		return err
	}
	if err := s.removal.execute(ctx, r.report, leaves, which); err != nil {
		return err
	}
	env.withSurge(slices.DeleteFunc(slices.Clone(r.policy.Surge), func(n string) bool { return n == name }))
	r.policy.Surge = slices.DeleteFunc(slices.Clone(r.policy.Surge), func(n string) bool { return n == name })
	r.agreed.Plan.Desired = env.Infrastructure
	return s.removal.delete(ctx, r.report, name, r.owner)
}
