package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

// TakeOut says which nodes are taken out of their cluster, though the tree has
// them.
type TakeOut struct {
	// Their names; none are all.
	Nodes []string
	// Whether their machines forget what they were, and wait in maintenance mode.
	Wipe bool
}

// NodesPlan is what has to be done with nodes.
type NodesPlan = nodeplan.Plan

// PlanTakeOut looks at the nodes, and says how they are taken out: by the steps
// by which nodes are removed. If no control plane is left, it is the end of the
// cluster, and takes wiping.
func (s *Session) PlanTakeOut(ctx context.Context, t TakeOut) (p *NodesPlan, err error) {
	c, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	if t.Nodes, err = t.names(c); err != nil {
		return nil, err
	}
	err = s.stage("observe nodes", 0, func(stage progress.Stage) error {
		c.Tell = notes(stage)
		p, err = s.planTakeOut(ctx, c, t)
		return err
	})
	return p, err
}

// names are those of the nodes, each of which there must be.
func (t TakeOut) names(c *nodes.Cluster) (names []string, err error) {
	for _, m := range c.Machines {
		names = append(names, m.Name)
	}
	if len(t.Nodes) == 0 {
		return names, nil
	}
	return t.Nodes, allKnown(t.Nodes, names)
}

// allKnown makes sure that names are those of nodes that are known.
func allKnown(names, known []string) error {
	var problems diag.List
	for _, name := range names {
		if !slices.Contains(known, name) {
			problems.Add(diag.On("node "+name, "the cluster has no such node").WithHint("%s", diag.Suggest(name, known)).WithCode(diag.Usage))
		}
	}
	return problems.Err()
}

// planTakeOut looks and plans. Whoever asks for it, agrees to it: the consent is
// asked for by who shows the plan.
func (s *Session) planTakeOut(ctx context.Context, c *nodes.Cluster, t TakeOut) (*nodeplan.Plan, error) {
	c.Allow(t.Nodes...) // in maintenance mode there is nothing to take from them
	desired, observed, err := s.lookAtNodes(ctx, c, nil, t.Nodes...)
	if err != nil {
		return nil, err
	}
	policy := nodeplan.Policy{Allow: t.Nodes}
	if t.Wipe && nodeplan.EndsEtcd(desired, observed, t.Nodes...) {
		return nodeplan.ResetAll(desired, observed, policy, t.Nodes...), nil
	}
	return nodeplan.TakeOut(desired, observed, policy, t.Wipe, t.Nodes...)
}

// TakeOut takes the steps of a plan of [Session.PlanTakeOut] that somebody agreed
// to. The report says what was done also if there is an error.
func (s *Session) TakeOut(ctx context.Context, agreed *NodesPlan, t TakeOut, owner Owner) (*Report, error) {
	r := s.report(nil)
	if err := refused(agreed.Refusals); err != nil {
		return r, err
	}
	err := s.locked(ctx, owner, func() error { return s.takeOut(ctx, r, agreed, t) })
	s.end(r)
	return r, err
}

func (s *Session) takeOut(ctx context.Context, r *Report, agreed *nodeplan.Plan, t TakeOut) error {
	c, err := s.reach(ctx)
	if err != nil {
		return err
	}
	if t.Nodes, err = t.names(c); err != nil {
		return err
	}
	return s.stage("take out", len(agreed.Steps), func(stage progress.Stage) error {
		_, err := s.converge(ctx, c, r, stage, agreed, func(ctx context.Context) (*nodeplan.Plan, error) {
			return s.planTakeOut(ctx, c, t)
		})
		if err != nil || !t.Wipe {
			return err
		}
		return c.Forget(ctx, t.Nodes...)
	})
}

// Replace takes a node out, by a plan of [Session.PlanTakeOut] that somebody
// agreed to, and makes its server anew; a machine that exists already is wiped.
// [Session.Apply] then lets it join.
func (s *Session) Replace(ctx context.Context, agreed *NodesPlan, name string, owner Owner) (*Report, error) {
	r := s.report(nil)
	if err := refused(agreed.Refusals); err != nil {
		return r, err
	}
	err := s.locked(ctx, owner, func() error {
		if err := s.takeOut(ctx, r, agreed, s.ToReplace(name)); err != nil {
			return err
		}
		return s.replaceServer(ctx, r, name, owner)
	})
	s.end(r)
	return r, err
}

// ToReplace says how a node is taken out that is to be replaced: a machine that
// exists already has to forget what it was; a server goes as a whole.
func (s *Session) ToReplace(name string) TakeOut {
	return TakeOut{Nodes: []string{name}, Wipe: s.project == nil}
}

// replaceServer makes the server of a node anew that has left the cluster, and
// nothing else.
func (s *Session) replaceServer(ctx context.Context, r *Report, name string, owner Owner) error {
	if s.project == nil {
		return nil
	}
	key := cloudplan.KeyOf(cloudplan.KindServer, name)
	policy := Policy{Consent: Consent{Allow: []string{name}, Replace: []string{name}, Left: []string{name}}}
	p, err := s.plan(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return cloudplan.Make(s.env.Infrastructure, o, policy.Consent)
	})
	if err != nil {
		return err
	}
	old := serverID(p.Observed, name)
	only := func(p *cloudplan.Plan) *cloudplan.Plan {
		one := *p
		one.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool {
			return c.Key != key || c.Action == cloudplan.Replace && c.ID != old // it is another one already
		})
		one.Refusals = slices.DeleteFunc(slices.Clone(p.Refusals), func(n plan.Note) bool { return n.Key != key })
		return &one
	}
	i := &infrastructure{Session: s, report: r, agreed: p, latest: p, all: only, policy: policy, owner: owner}
	if err := i.change(ctx, only); err != nil {
		return err
	}
	return s.awaitMachine(ctx, name)
}

// awaitMachine waits until a machine that was made answers, or patience ends:
// the plan that lets it join says what is wrong with it.
func (s *Session) awaitMachine(ctx context.Context, name string) error {
	c, err := s.reach(ctx)
	if err != nil {
		return err
	}
	return s.stage("await "+name, 0, func(progress.Stage) error {
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

// NodeNames are those of the tree's nodes.
func (e *Environment) NodeNames() (names []string) {
	for _, x := range e.Infrastructure.Servers {
		if rolesOfNodes[x.Role] != "" {
			names = append(names, x.Name)
		}
	}
	for _, x := range e.Infrastructure.Machines {
		names = append(names, x.Name)
	}
	return names
}

// converge takes steps with nodes, looks again, and goes on until nothing is left
// to do, as far as somebody agreed to it. It returns what is left.
func (s *Session) converge(
	ctx context.Context, c *nodes.Cluster, r *Report, stage progress.Stage,
	agreed *nodeplan.Plan, again func(context.Context) (*nodeplan.Plan, error),
) (*nodeplan.Plan, error) {
	c.Tell = notes(stage)
	current, err := again(ctx)
	if err != nil {
		return nil, err
	}
	return c.Loop(agreed, again).Converge(ctx, current, execute.Options[Step]{
		Parallel: parallelNodes,
		Report:   func(e execute.Event[Step]) { r.noteStep(stage, e) },
	})
}
