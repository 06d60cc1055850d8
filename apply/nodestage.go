package apply

import (
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

// withNodes adds the section of nodes to a plan of the infrastructure, and takes
// away what the stages of the run leave out.
func (s *Session) withNodes(ctx context.Context, infra *cloudplan.Plan, policy Policy) (*Plan, error) {
	p := &Plan{Plan: infra}
	switch {
	case s.nodes.Dial == nil:
		return p, nil
	case !policy.has(StageNodes):
		// A server of a node is not deleted before the node has left the cluster.
		p.Plan = holding(everybody)(infra)
		if !policy.has(StageInfrastructure) {
			p.Plan = nothing(infra)
		}
		return p, nil
	case !policy.has(StageInfrastructure):
		p.Plan = nothing(infra)
	default:
		p.Plan = holding(policy.spares)(infra)
	}
	err := s.stage("observe nodes", 0, func(stage progress.Stage) (err error) {
		c, err := s.cluster(ctx, infra.Observed, making(p.Plan))
		if err != nil {
			return err
		}
		c.Tell = notes(stage)
		s.planned = c
		p.kept, p.node = s.env.nodeFiles(), policy.forNodes(s.names(infra.Observed))
		p.Nodes, err = s.planNodes(ctx, c, p.node, nil)
		return err
	})
	return p, err
}

// nothing is a plan of the infrastructure that leaves it as it is.
func nothing(p *cloudplan.Plan) *cloudplan.Plan {
	left := *p
	left.Changes, left.Refusals = nil, nil
	return &left
}

// resumeNodes makes the section of nodes of a saved plan again.
func (s *Session) resumeNodes(ctx context.Context, p *Plan, saved *Saved, more Policy) (*Plan, error) {
	if saved.Nodes == nil {
		return p, nil
	}
	err := s.stage("observe nodes", 0, func(stage progress.Stage) (err error) {
		c, err := s.cluster(ctx, p.Observed, making(p.Plan))
		if err != nil {
			return err
		}
		c.Tell = notes(stage)
		p.kept, p.node = s.env.nodeFiles(), saved.Nodes.Policy.And(more.forNodes(s.names(p.Observed)))
		if p.Nodes, err = s.planNodes(ctx, c, p.node, nil); err != nil {
			return err
		}
		return plan.StaleError(p.Cluster, saved.Nodes.Stale(p.kept, p.Nodes)...)
	})
	return p, err
}

// making are the servers that a plan makes.
func making(p *cloudplan.Plan) (names []string) {
	for _, c := range p.Changes {
		if c.Kind == cloudplan.KindServer && (c.Action == cloudplan.Create || c.Action == cloudplan.Replace) {
			names = append(names, c.Name)
		}
	}
	return names
}

// names are those of all nodes, wanted or there.
func (s *Session) names(o cloudplan.Observed) (names []string) {
	for _, m := range s.machines(o, nil) {
		names = append(names, m.Name)
	}
	return names
}

// cluster prepares to talk to the nodes. Nothing is asked yet, but whoever runs
// this is let in.
func (s *Session) cluster(ctx context.Context, o cloudplan.Observed, making []string) (*nodes.Cluster, error) {
	c := &nodes.Cluster{
		Name: s.env.Infrastructure.Cluster, Machines: s.machines(o, making), Clock: keepingClock{s.clock, s}, Patience: nodes.DefaultPatience(),
		Clients: &s.clients, Credentials: func() (node.Credentials, error) { return s.credentials(ctx) },
		Records: s.records, Intents: s.intents, Forgetful: s.project == nil, Run: s.leaseOwner.Run, Snapshot: s.saveEtcd, Recovery: s.recovery(),
		Keep: s.keepLock,
	}
	if !slices.ContainsFunc(c.Machines, func(m nodes.Machine) bool { return !m.New && m.Address != "" }) {
		return c, nil // nobody to talk to
	}
	if err := s.letIn(ctx, o); diag.CodeOf(err) == diag.Secrets && s.lock == nil {
		// Whoever only reads may look at what can be seen without.
		for i := range c.Machines {
			c.Machines[i].Address, c.Machines[i].Unknown = "", "you are not let in: "+oneLine(err)
		}
		return c, nil
	} else if err != nil {
		return nil, err
	}
	var err error
	if c.Through, err = s.transport(o); err != nil {
		return nil, err
	}
	api := controlPlaneAPI{session: s, through: c.Through}
	for _, m := range c.Machines {
		if m.Role == nodeplan.ControlPlane {
			api.planes = append(api.planes, m)
		}
	}
	c.Kubernetes = api
	return c, nil
}

// planNodes looks at the nodes, and says what has to be done.
func (s *Session) planNodes(ctx context.Context, c *nodes.Cluster, policy nodeplan.Policy, awaited []string) (*nodeplan.Plan, error) {
	c.Allow(policy.Trust...)
	desired, observed, err := s.lookAtNodes(ctx, c, awaited)
	if err != nil {
		return nil, err
	}
	return nodeplan.Make(desired, observed, policy)
}

// lookAtNodes looks at the nodes, and prepares to watch over their health. Of
// those that leave nothing is expected.
func (s *Session) lookAtNodes(ctx context.Context, c *nodes.Cluster, awaited []string, leaving ...string) (d nodeplan.Desired, o nodeplan.Observed, err error) {
	if d, err = s.desiredNodes(ctx); err != nil {
		return d, o, err
	}
	sights, err := c.Settled(ctx, awaited)
	if err != nil {
		return d, o, err
	}
	guard := s.guard(c, sights)
	guard.Except = append(guard.Except, leaving...)
	c.Health = guard
	o, err = c.Observed(ctx, sights)
	return d, o, err
}

// changeNodes takes the steps with nodes that follow from what is there now, as
// far as somebody agreed to them.
func (s *Session) changeNodes(ctx context.Context, r *Report, p *Plan, policy Policy) error {
	if s.jump != nil { // the server that leads there may be another one now
		s.clients.Close()
		_ = s.jump.Close() // nobody uses it
		s.jump = nil
	}
	return s.stage(string(StageNodes), len(p.Nodes.Steps), func(stage progress.Stage) error {
		o := r.Left.Observed
		c, err := s.cluster(ctx, o, nil)
		if err != nil {
			return err
		}
		left, err := s.converge(ctx, c, r, stage, p.Nodes, func(ctx context.Context) (*nodeplan.Plan, error) {
			return s.planNodes(ctx, c, policy.forNodes(s.names(o)), append(making(p.Plan), s.disturbed.all()...))
		})
		if left != nil {
			r.Left.Nodes = left
		}
		if err != nil {
			return err
		}
		return c.Arrived(ctx)
	})
}

// parallelNodes is how many steps are taken at once. What must not happen at
// once waits for each other in the plan.
const parallelNodes = 32

// noteStep takes in, and tells, how a step goes on.
func (r *Report) noteStep(stage progress.Stage, e execute.Event[Step]) {
	if e.State == execute.Done {
		r.Steps = append(r.Steps, e.Step)
	}
	tellStep(stage, nodes.Name(e.Step), e.State, e.Err)
}

// away is an error that names nodes of which nobody knows whether they are as
// they should be.
func away(p *nodeplan.Plan) error {
	if p == nil {
		return nil
	}
	var problems diag.List
	for _, n := range p.Warnings {
		for _, name := range p.Away {
			if n.Key == plan.Key("node/"+name) {
				problems.Add(diag.On("node "+name, "%s", n.Text).WithHint("%s", n.Hint).WithCode(diag.NotReady))
			}
		}
	}
	return problems.Err()
}

const (
	// lookEvery is how often the health of a cluster is looked at.
	lookEvery = 5 * time.Second
	// wellWithin is how long a cluster may take to become well.
	wellWithin = 15 * time.Minute
	// settleWithin is how long what is not etcd may be ill before a run goes on.
	settleWithin = 2 * time.Minute
)

// guard watches over the health of the nodes that were seen. Of those that are
// not reached, or are new, and of those that the tree does not have, nothing is
// expected.
func (s *Session) guard(c *nodes.Cluster, sights []nodes.Sight) *health.Guard {
	g := &health.Guard{
		Clock: c.Clock, Patience: node.Patience{Every: lookEvery, Within: wellWithin}, Settle: settleWithin,
	}
	var living []nodes.Machine
	for _, seen := range sights {
		if seen.Reach == nodeplan.Configured {
			living = append(living, seen.Machine)
		}
		if seen.Reach != nodeplan.Configured || !seen.Machine.InTree {
			g.Except = append(g.Except, seen.Machine.Name)
		}
	}
	g.Collect = func(ctx context.Context) health.Facts { return facts(ctx, c, living, asking(c)) }
	return g
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
