package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
)

// removalStage takes nodes out of their cluster, by the steps by which nodes are
// removed, and makes servers anew that have left it.
type removalStage struct {
	nodes *nodeStage
	cloud *cloudStage
	log   *runLog
}

// plan looks at the nodes, and says what has to be done.
func (t *removalStage) plan(ctx context.Context, which Removal) (p *nodeplan.Plan, err error) {
	o, c, err := t.nodes.connect.found(ctx)
	if err != nil {
		return nil, err
	}
	if which.Nodes, err = which.names(c); err != nil {
		return nil, err
	}
	err = t.log.stage("observe nodes", 0, func(stage progress.Stage) error {
		c.Notify = notes(stage)
		p, err = t.make(ctx, c, which)
		return err
	})
	if err != nil || !which.anew || t.cloud.project == nil {
		return p, err
	}
	kept, err := t.keptOut(o, which.Nodes)
	p.Refusals = append(p.Refusals, kept...)
	return p, err
}

// keptOut is what is refused of the infrastructure beside the servers of nodes that are made
// anew: apply would not let them join, and so their old machines are not taken out.
func (t *removalStage) keptOut(o cloudplan.Observed, names []string) ([]plan.Note, error) {
	p, err := cloudplan.Make(t.cloud.env.Infrastructure, o, plan.Consent{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(p.Refusals, func(n plan.Note) bool {
		return slices.ContainsFunc(names, func(name string) bool { return n.Key == cloudplan.KeyOf(cloudplan.KindServer, name) })
	}), nil
}

// make looks and plans. Whoever asks for it, agrees to it: the consent is asked for
// by who shows the plan.
func (t *removalStage) make(ctx context.Context, c *nodes.Cluster, which Removal) (*nodeplan.Plan, error) {
	c.Allow(which.Nodes...) // in maintenance mode there is nothing to take from them
	desired, observed, err := t.nodes.observe(ctx, c, nil, which.Nodes...)
	if err != nil {
		return nil, err
	}
	policy := nodeplan.Policy{Allow: which.Nodes}
	if which.Wipe && nodeplan.EndsEtcd(desired, observed, which.Nodes...) {
		return nodeplan.ResetAll(desired, observed, policy, which.Nodes...), nil
	}
	return nodeplan.PlanRemoval(desired, observed, policy, which.Wipe, which.Nodes...)
}

// execute takes the steps that follow from what is there now, as far as somebody
// agreed to them.
func (t *removalStage) execute(ctx context.Context, r *Report, agreed *nodeplan.Plan, which Removal) error {
	c, err := t.nodes.connect.nodes(ctx)
	if err != nil {
		return err
	}
	if which.Nodes, err = which.names(c); err != nil {
		return err
	}
	return t.log.stage("take out", len(agreed.Steps), func(stage progress.Stage) error {
		_, err := converge(ctx, c, r, stage, agreed, func(ctx context.Context) (*nodeplan.Plan, error) {
			return t.make(ctx, c, which)
		})
		if err != nil || !which.Wipe {
			return err
		}
		return c.Forget(ctx, which.Nodes...)
	})
}

// replace makes the server of a node anew that has left the cluster, and
// nothing else.
func (t *removalStage) replace(ctx context.Context, r *Report, name string, owner Owner) error {
	if t.cloud.project == nil || t.cloud.inventory.exists(name) {
		return nil
	}
	key := cloudplan.KeyOf(cloudplan.KindServer, name)
	policy := Policy{Consent: plan.Consent{Allow: []string{name}, Replace: []string{name}, Left: []string{name}}}
	p, err := t.cloud.observe(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return cloudplan.Make(t.cloud.env.Infrastructure, o, policy.Consent)
	})
	if err != nil {
		return err
	}
	old := serverID(p.Observed, name)
	only := func(p *cloudplan.Plan) *cloudplan.Plan {
		one := *p
		var needs []plan.Key // such as the image that it is made from
		one.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c cloudplan.Change) bool {
			again := c.Key != key || c.Action == cloudplan.Replace && c.ID != old // it is another one already
			if !again {
				needs = c.Needs
			}
			return again
		})
		for _, c := range p.Changes {
			if c.Kind == cloudplan.KindImage && slices.Contains(needs, c.Key) {
				one.Changes = append([]cloudplan.Change{c}, one.Changes...)
			}
		}
		one.Refusals = slices.DeleteFunc(slices.Clone(p.Refusals), func(n plan.Note) bool { return n.Key != key })
		return &one
	}
	i := &infrastructure{cloudStage: t.cloud, report: r, agreed: p, latest: p, all: only, policy: policy, owner: owner}
	if err := i.change(ctx, only); err != nil {
		return err
	}
	if serverID(i.latest.Observed, name) != old {
		if err := t.whole(ctx, i, key); err != nil {
			return err
		}
	}
	return t.await(ctx, name)
}

// delete deletes the server of a node that has left the cluster and is not in the tree,
// and nothing else.
func (t *removalStage) delete(ctx context.Context, r *Report, name string, owner Owner) error {
	key := cloudplan.KeyOf(cloudplan.KindServer, name)
	policy := Policy{Consent: plan.Consent{Allow: []string{string(key)}}}
	p, err := t.cloud.observe(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return cloudplan.Make(t.cloud.env.Infrastructure, o, policy.Consent)
	})
	if err != nil {
		return err
	}
	only := func(p *cloudplan.Plan) *cloudplan.Plan {
		one := *p
		one.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c cloudplan.Change) bool { return c.Key != key })
		one.Refusals = slices.DeleteFunc(slices.Clone(p.Refusals), func(n plan.Note) bool { return n.Key != key })
		return &one
	}
	i := &infrastructure{cloudStage: t.cloud, report: r, agreed: p, latest: p, all: only, policy: policy, owner: owner}
	return i.change(ctx, only)
}

// whole gives a server that is new what a lost answer has kept from it, such as its network:
// without that nobody reaches it.
func (t *removalStage) whole(ctx context.Context, i *infrastructure, key plan.Key) error {
	i.policy.Consent.Replace = nil
	if err := i.plan(ctx); err != nil {
		return err
	}
	return i.change(ctx, func(p *cloudplan.Plan) *cloudplan.Plan {
		one := *p
		one.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c cloudplan.Change) bool {
			return c.Key != key || c.Action != cloudplan.Update
		})
		one.Refusals = slices.DeleteFunc(slices.Clone(p.Refusals), func(n plan.Note) bool { return n.Key != key })
		return &one
	})
}

// await waits until a machine that was made answers, or patience ends:
// the plan that lets it join says what is wrong with it.
func (t *removalStage) await(ctx context.Context, name string) error {
	c, err := t.nodes.connect.nodes(ctx)
	if err != nil {
		return err
	}
	return t.log.stage("await "+name, 0, func(progress.Stage) error {
		_, err := c.Settled(ctx, []string{name})
		return err
	})
}

// serverID is the id of a server; 0 if there is none of that name.
func serverID(o cloudplan.Observed, name string) int64 {
	for _, s := range o.Servers {
		if s.Name == name {
			return s.ID
		}
	}
	return 0
}

// names are those of the nodes, each of which there must be.
func (t Removal) names(c *nodes.Cluster) (names []string, err error) {
	for _, m := range c.Machines {
		names = append(names, m.Name)
	}
	if len(t.Nodes) == 0 {
		return names, nil
	}
	return t.Nodes, allKnown(t.Nodes, names)
}

// Removal says which nodes are taken out of their cluster, though the tree has
// them.
type Removal struct {
	// Their names; none are all.
	Nodes []string
	// Whether their machines forget what they were, and wait in maintenance mode.
	Wipe bool

	anew bool // their servers are made anew, and join again
}
