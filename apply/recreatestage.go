package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/recreate"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// recreateStage makes nodes anew, one after the other: each leaves the cluster, its
// machine is made anew and joins, and the cluster is well before the next one. It knows
// nothing but what is there: a run that was interrupted anywhere is finished by the next.
type recreateStage struct {
	removal *removalStage
	cloud   *cloudStage
	nodes   *nodeStage
	log     *runLog
}

func (s *recreateStage) execute(ctx context.Context, r *run) error {
	for _, n := range r.agreed.Recreate.Due() {
		if err := s.recreate(ctx, r, n); err != nil {
			return err
		}
		r.report.recreated = append(r.report.recreated, n.Name)
		r.report.Left.Recreate = r.agreed.Recreate.Without(r.report.recreated)
	}
	for _, name := range slices.Clone(r.policy.Surge) {
		if err := s.leave(ctx, r, name); err != nil {
			return err
		}
	}
	return nil
}

// recreate makes one node anew.
func (s *recreateStage) recreate(ctx context.Context, r *run, n recreate.Node) error {
	which := Removal{Nodes: []string{n.Name}, Wipe: s.cloud.inventory.exists(n.Name)}
	if err := s.removal.execute(ctx, r.report, n.Leaves(), which); err != nil {
		return err
	}
	if err := s.removal.replace(ctx, r.report, n.Name, r.owner); err != nil {
		return err
	}
	is := func(name string) bool { return name == n.Name }
	r.recreate = slices.DeleteFunc(slices.Clone(r.recreate), is)
	r.policy.Rebuild = slices.DeleteFunc(slices.Clone(r.policy.Rebuild), is)
	s.nodes.disturbed.add(n.Name) // it is on its way
	if err := s.cloud.anew(ctx, r, s.nodes); err != nil {
		return err
	}
	return s.joined(ctx, r, n.Name)
}

// joined waits until a node that was made anew is well, and the cluster with it.
func (s *recreateStage) joined(ctx context.Context, r *run, name string) error {
	return s.log.stage("await "+name, 0, func(stage progress.Stage) error {
		c, err := s.nodes.connect.at(ctx, r.report.Left.Observed, nil)
		if err != nil {
			return err
		}
		c.Notify = notes(stage)
		states, err := c.Settled(ctx, []string{name})
		if err != nil {
			return err
		}
		for _, seen := range states {
			if seen.Machine.Name == name && seen.Reach != nodeplan.Configured {
				return diag.On("node "+name, "its new machine has not joined").WithHint("apply again: it goes on from what is there").WithCode(diag.NotReady)
			}
		}
		return guard(c, states).After(ctx, name)
	})
}

// anew makes the changes that follow from a server that is new, planned from what is
// there, and lets its node join.
func (c *cloudStage) anew(ctx context.Context, r *run, nodes stage) error {
	i := c.begin(r)
	if c.project != nil {
		if err := i.plan(ctx); err != nil {
			return err
		}
	}
	return i.around(ctx, r, nodes)
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
	setSurge(env, slices.DeleteFunc(slices.Clone(r.policy.Surge), func(n string) bool { return n == name }))
	r.policy.Surge = slices.DeleteFunc(slices.Clone(r.policy.Surge), func(n string) bool { return n == name })
	// What was checked before is not checked again: the plan is only executed from here on.
	r.agreed.Plan.Desired = env.Infrastructure
	return s.removal.delete(ctx, r.report, name, r.owner)
}
