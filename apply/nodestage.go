package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
)

// nodeStage looks at the nodes, and takes the steps by which they become what the
// tree has.
type nodeStage struct {
	connect   *connector
	desired   *treeNodes
	disturbed *disturbed
	log       *runLog
	planned   *nodes.Cluster    // the nodes that the last plan was made from; nil: none
	seen      nodeplan.Observed // what was seen of them
	wanted    nodeplan.Desired  // and what they are to be
	makers    *makers
}

// plan adds the section of nodes to a plan, and takes away of the infrastructure
// what waits for nodes, or is left out.
func (n *nodeStage) plan(ctx context.Context, p *Plan, policy Policy) error {
	if n.connect.reach.dial == nil {
		return nil
	}
	p.Plan = within(p.Plan, policy)
	if !policy.has(stageNodes) {
		return nil
	}
	p.consented = policy.Consent
	more := recreating{infra: &n.connect.env.Infrastructure, kube: n.connect.kube}
	if policy.has(StageInfrastructure) {
		more.part = func(p *cloudplan.Plan) *cloudplan.Plan { return within(p, policy) }
	}
	return n.planFor(ctx, p, policy.forNodes(n.connect.inventory.names(p.Observed)), more)
}

// resume makes the section of nodes of a saved plan again.
func (n *nodeStage) resume(ctx context.Context, p *Plan, saved *Saved, more Policy) error {
	if saved.Nodes == nil {
		return nil
	}
	p.consented = saved.Policy
	policy := saved.Nodes.Policy.And(more.forNodes(n.connect.inventory.names(p.Observed)))
	err := n.planFor(ctx, p, policy, recreating{infra: &n.connect.env.Infrastructure, kube: n.connect.kube, part: whole, planned: true})
	if err != nil {
		return err
	}
	return plan.StaleError(p.Cluster, saved.Nodes.Stale(p.kept, p.Nodes)...)
}

// planFor observes the nodes, and plans.
func (n *nodeStage) planFor(ctx context.Context, p *Plan, policy nodeplan.Policy, again recreating) error {
	return n.log.stage("observe nodes", 0, func(stage progress.Stage) error {
		c, desired, observed, err := n.probe(ctx, p, policy, stage)
		if err != nil {
			return err
		}
		tree := len(again.infra.Servers)
		if policy, err = again.plan(ctx, c, p, policy, desired, observed); err != nil {
			return err
		}
		if len(again.infra.Servers) != tree { // pools have nodes more for a time
			if _, desired, observed, err = n.probe(ctx, p, policy, stage); err != nil {
				return err
			}
		}
		p.kept, p.node = n.desired.env.nodeFiles(), policy
		if p.Nodes, err = nodeplan.Make(desired, observed, policy); err != nil {
			return err
		}
		p.Refusals = append(p.Refusals, versionSkew(p, n.connect.env.Infrastructure)...)
		return nil
	})
}

// probe looks at the nodes as they will be once the servers of a plan are there.
func (n *nodeStage) probe(ctx context.Context, p *Plan, policy nodeplan.Policy, stage progress.Stage) (*nodes.Cluster, nodeplan.Desired, nodeplan.Observed, error) {
	c, err := n.connect.at(ctx, p.Observed, toCreate(p.Plan))
	if err != nil {
		return nil, nodeplan.Desired{}, nodeplan.Observed{}, err
	}
	n.follow(c, p.Observed)
	c.Notify = notes(stage)
	n.planned = c
	c.Allow(policy.Trust...)
	desired, observed, err := n.observe(ctx, c, nil)
	if err == nil {
		n.seen, n.wanted = observed, desired
	}
	return c, desired, observed, err
}

// follow adds to the nodes of a cluster those that its autoscaler made, of pools with
// discovery: what Git changes in their configuration reaches them too.
func (n *nodeStage) follow(c *nodes.Cluster, o cloudplan.Observed) {
	n.makers.meet(o)
	c.Machines = append(c.Machines, n.connect.inventory.followed(o)...)
}

// unheard says why Kubernetes did not answer when the last plan was made.
func (n *nodeStage) unheard() error {
	if n.planned == nil {
		return nil
	}
	return n.planned.Unheard()
}

// arrived records of machines that exist already, and have proven to be nodes when
// the plan was made, that they were configured: by an older talosgen, or by
// somebody whose record was lost. Servers without a record are not new either.
func (n *nodeStage) arrived(ctx context.Context) error {
	if n.planned == nil {
		return nil
	}
	return n.planned.Arrived(ctx, true)
}

// make looks at nodes, and says what has to be done.
func (n *nodeStage) make(ctx context.Context, c *nodes.Cluster, policy nodeplan.Policy, awaited []string) (*nodeplan.Plan, error) {
	c.Allow(policy.Trust...)
	desired, observed, err := n.observe(ctx, c, awaited)
	if err != nil {
		return nil, err
	}
	return nodeplan.Make(desired, observed, policy)
}

// observe looks at the nodes, and prepares to watch over their health. Of those
// that leave nothing is expected.
func (n *nodeStage) observe(ctx context.Context, c *nodes.Cluster, awaited []string, leaving ...string) (d nodeplan.Desired, o nodeplan.Observed, err error) {
	if d, err = n.desired.readWith(ctx, c.Machines); err != nil {
		return d, o, err
	}
	states, err := c.Settled(ctx, awaited)
	if err != nil {
		return d, o, err
	}
	g := guard(c, states)
	g.Except = append(g.Except, leaving...)
	c.Health = g
	if o, err = c.Observed(ctx, states); err == nil {
		o.Autoscaler, err = n.makers.seen(ctx, c, d, o)
	}
	return d, o, err
}

// execute takes the steps with nodes that follow from what is there now, as far as
// somebody agreed to them.
func (n *nodeStage) execute(ctx context.Context, r *run) error {
	n.connect.reach.forgetJump()
	return n.log.stage(string(stageNodes), len(r.agreed.Nodes.Steps), func(stage progress.Stage) error {
		o := r.report.Left.Observed
		c, err := n.connect.at(ctx, o, nil)
		if err != nil {
			return err
		}
		n.follow(c, o)
		left, err := converge(ctx, c, r.report, stage, r.agreed.Nodes, func(ctx context.Context) (*nodeplan.Plan, error) {
			policy := r.policy.forNodes(n.connect.inventory.names(o))
			policy.Recreate, policy.Forced = r.recreate, r.recreate
			return n.make(ctx, c, policy, append(toCreate(r.agreed.Plan), n.disturbed.all()...))
		})
		if left != nil {
			r.report.Left.Nodes = left
		}
		if err != nil {
			return err
		}
		return c.Arrived(ctx, false)
	})
}

// converge takes steps with nodes, looks again, and goes on until nothing is left
// to do, as far as somebody agreed to it. It returns what is left.
func converge(
	ctx context.Context, c *nodes.Cluster, r *Report, stage progress.Stage,
	agreed *nodeplan.Plan, again func(context.Context) (*nodeplan.Plan, error),
) (*nodeplan.Plan, error) {
	c.Notify = notes(stage)
	current, err := again(ctx)
	if err != nil {
		return nil, err
	}
	return c.Loop(agreed, again).Converge(ctx, current, execute.Options[nodeplan.Step]{
		Parallel: parallelNodes,
		Report:   func(e execute.Event[nodeplan.Step]) { r.noteStep(stage, e) },
	})
}

// parallelNodes is how many steps are taken at once. What must not happen at
// once waits for each other in the plan.
const parallelNodes = 32

// noteStep takes in, and tells, how a step goes on.
func (r *Report) noteStep(stage progress.Stage, e execute.Event[nodeplan.Step]) {
	if e.State == execute.Done {
		r.Steps = append(r.Steps, e.Step)
	}
	notifyStep(stage, nodes.Name(e.Step), e.State, e.Err)
}

// notes tells a stage what its steps wait for. A wait that is no step ends with
// nothing to tell.
func notes(stage progress.Stage) func(step, text string) {
	return func(step, text string) {
		state := progress.Note
		if text == "" {
			state = progress.Waited
		}
		stage.Step(step, state, text)
	}
}
