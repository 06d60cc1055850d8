package apply

import (
	"context"
	"maps"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/progress"
)

// cloudStage looks at the project at Hetzner Cloud, plans and changes it.
type cloudStage struct {
	env        *Environment
	project    *cloud.Client // nil for machines that exist already
	inventory  *inventory
	open       *sessionAccess
	images     *imageBuilder
	record     treeRecord
	watch      *nodeWatch
	clock      cloud.Clock
	log        *runLog
	parallel   int  // how many changes are made at once
	otherToken bool // the token is not the one in the tree
}

// plan says what has to be done. The nodes that the policy names must be in the
// tree or in the project.
func (c *cloudStage) plan(ctx context.Context, p *Plan, policy Policy) (err error) {
	setSurge(c.env, nil)
	p.Plan, err = c.observe(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return cloudplan.Make(c.env.Infrastructure, c.asked(ctx, o), policy.Consent)
	})
	if err != nil {
		return err
	}
	named := slices.Concat(policy.Nodes, slices.Sorted(maps.Keys(c.inventory.fingerprints)))
	if err := allKnown(named, c.inventory.names(p.Observed)); err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, c.leftOpen(p.Observed)...)
	p.Warnings = append(p.Warnings, c.otherProject(p.Observed)...)
	return nil
}

// destroy says what has to be done to remove everything that belongs to the
// cluster.
func (c *cloudStage) destroy(ctx context.Context, policy Policy) (*cloudplan.Plan, error) {
	p, err := c.observe(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return cloudplan.Destroy(c.env.Infrastructure, o, policy.Consent)
	})
	if err == nil {
		p.Warnings = append(append(p.Warnings, c.otherProject(p.Observed)...), c.staying()...)
	}
	return p, err
}

// resume makes a saved plan again.
func (c *cloudStage) resume(ctx context.Context, p *Plan, saved *Saved, more Policy) (err error) {
	setSurge(c.env, saved.Policy.Surge)
	p.Plan, err = c.observe(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return saved.Resume(c.env.Infrastructure, c.asked(ctx, o), more.Consent)
	})
	return err
}

// check makes sure that a plan is still what has to be done.
func (c *cloudStage) check(ctx context.Context, agreed *cloudplan.Plan) (*cloudplan.Plan, error) {
	return c.observe(ctx, "check", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		if !agreed.Destroy {
			o = c.asked(ctx, o)
		}
		return agreed.Again(o, plan.Consent{})
	})
}

// asked adds what NAT gateways answer to what was observed.
func (c *cloudStage) asked(ctx context.Context, o cloudplan.Observed) cloudplan.Observed {
	o.Answers = gatewayAsker{c.watch.connect.reach, c.clock}.ask(ctx, o)
	return o
}

// observe observes and plans, as a stage of the run.
func (c *cloudStage) observe(ctx context.Context, stage string, make func(cloudplan.Observed) (*cloudplan.Plan, error)) (p *cloudplan.Plan, err error) {
	err = c.log.stage(stage, 0, func(progress.Stage) error {
		var observed cloudplan.Observed
		if c.project != nil {
			if observed, err = c.project.ObserveSettled(ctx, c.env.Infrastructure); err != nil {
				return err
			}
		}
		p, err = make(observed)
		return err
	})
	return p, err
}

// execute makes the changes.
func (c *cloudStage) execute(ctx context.Context, r *run) error {
	i := c.begin(r)
	return i.change(ctx, i.all)
}

// rounds bounds how often nodes are looked at after servers were made in the
// place of others.
const rounds = 3

// around makes the changes around those of the nodes: servers of nodes are deleted
// last, when the nodes have left the cluster.
func (c *cloudStage) around(ctx context.Context, r *run, nodes stage) error {
	if r.agreed.Nodes == nil {
		return c.execute(ctx, r)
	}
	return c.begin(r).around(ctx, r, nodes)
}

// begin begins to change the infrastructure.
func (c *cloudStage) begin(r *run) *infrastructure {
	i := &infrastructure{cloudStage: c, report: r.report, agreed: r.agreed.Plan, latest: r.agreed.Plan, all: whole, policy: r.policy, owner: r.owner}
	switch {
	case r.agreed.Nodes != nil:
		i.all = holding(r.policy.skips)
	case c.watch.connect.reach.dial != nil && !r.agreed.Destroy:
		i.all = holding(all)
	}
	return i
}
