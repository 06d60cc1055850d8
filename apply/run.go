package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// parallel is how many changes are made at once. More gain little: Hetzner
// changes a network for one after the other, and the rate limit is per project.
const parallel = 8

// Owner is who runs a command, for others who find its lock.
type Owner struct {
	// Who, and on which machine, for people.
	Name string
	// What no other run has: letters, digits and hyphens.
	Run string
}

// Report is what a run did. [Report.Summary] is what people and programs are told
// of it.
type Report struct {
	// What was to be done; nil for a run without such a plan.
	Agreed *Plan
	// The changes that were made, in the order in which they were done.
	Done []Change
	// The steps that were taken with nodes, in the same way.
	Steps []Step
	// What was done in Kubernetes, in the same way.
	Objects []Object
	// What is left to do, as far as it is known; nil if nothing was done.
	Left *Plan
	// How long each stage took, and what it asked for.
	Stages []StageTime

	verified     verified
	ended        bool // the run came through all its stages
	env, cluster string
	requestsLeft int
	closed       []Finding // of APIs that nobody reaches now
}

type (
	// Change is a change of the infrastructure.
	Change = cloudplan.Change
	// Step is a step with a node.
	Step = nodeplan.Step
)

// Apply makes the changes of a plan that somebody agreed to, be it of
// [Session.Plan], [Session.PlanDestroy] or [Session.Resume], and looks again.
// Nobody else changes the cluster meanwhile. Nothing is changed if something
// that the plan reads or writes is not any more as it was: the error then has
// the exit code [diag.Conflict]. What others have edited in Kubernetes is such an
// error too, after everything that does not depend on it is done. The report says
// what was done also if there is an error.
func (s *Session) Apply(ctx context.Context, agreed *Plan, policy Policy, owner Owner) (*Report, error) {
	r := s.report(agreed)
	defer s.end(r)
	if !agreed.Executable() {
		var problems diag.List
		problems.AddErr(notExecutable(agreed))
		problems.AddErr(s.switchOn(ctx, owner, agreed.Observed))
		return r, problems.Err()
	}
	if agreed.Empty() {
		r.Left = agreed
		if err := s.recordPlanned(ctx); err != nil {
			return r, err
		}
		if err := s.recordConsent(ctx, agreed, owner); err != nil {
			return r, err
		}
		if err := s.sweep(ctx, owner, temporary(agreed.Observed), agreed.Destroy); err != nil {
			return r, err
		}
		return r, r.remains()
	}
	err := s.locked(ctx, owner, func() error {
		current, err := s.plan(ctx, "check", func(o cloudplan.Observed) (*cloudplan.Plan, error) { return agreed.Again(o, Consent{}) })
		if err != nil {
			return err
		}
		if !agreed.Destroy {
			if err := s.recordTree(ctx, current.Observed, agreed.older); err != nil {
				return err
			}
		}
		if current, err = s.quiesce(ctx, current, policy.Consent); err != nil {
			return err
		}
		return s.carryOut(ctx, r, &Plan{Plan: current, Nodes: agreed.Nodes, Kubernetes: agreed.Kubernetes, older: agreed.older}, policy, owner)
	})
	return r, err
}

// recordPlanned records of machines that exist already, and have proven to be nodes
// when the plan was made, that they were configured: by an older talosgen, or by
// somebody whose record was lost. Servers without a record are not new either.
func (s *Session) recordPlanned(ctx context.Context) error {
	if s.project != nil || s.planned == nil {
		return nil
	}
	return s.planned.Arrived(ctx)
}

// carryOut goes through the stages, each of which plans from what is there when it
// begins, within what was agreed to. Servers of nodes are deleted last: first the
// nodes leave the cluster.
func (s *Session) carryOut(ctx context.Context, r *Report, p *Plan, policy Policy, owner Owner) error {
	i := &infrastructure{Session: s, report: r, agreed: p.Plan, latest: p.Plan, all: whole, policy: policy, owner: owner}
	if p.Nodes == nil {
		if s.nodes.Dial != nil && !p.Destroy {
			i.all = holding(everybody)
		}
		if err := i.change(ctx, i.all); err != nil {
			return err
		}
		return s.finish(ctx, r, p, policy)
	}
	i.all = holding(policy.spares)
	for range rounds {
		if err := i.change(ctx, holding(everybody)); err != nil {
			return err
		}
		before := i.latest.Observed
		if err := s.changeNodes(ctx, r, p, policy); err != nil {
			return err
		}
		i.old = true
		if err := i.change(ctx, i.all); err != nil {
			return err
		}
		if !s.newNodes(before, i.latest.Observed) {
			break
		}
	}
	return s.finish(ctx, r, p, policy)
}

// newNodes reports whether there are servers of nodes that were not there before.
func (s *Session) newNodes(before, now cloudplan.Observed) bool {
	return slices.ContainsFunc(now.Servers, func(server cloudplan.Server) bool {
		return rolesOfNodes[server.Labels[schemas.LabelRole]] != "" && s.owns(server) &&
			!slices.ContainsFunc(before.Servers, func(b cloudplan.Server) bool { return b.ID == server.ID })
	})
}

// finish changes what runs in the cluster, once its nodes are there, and looks at
// the whole.
func (s *Session) finish(ctx context.Context, r *Report, p *Plan, policy Policy) error {
	if err := s.changeKubernetes(ctx, r, p, policy); err != nil {
		return err
	}
	if err := s.recordLate(ctx, p); err != nil {
		return err
	}
	if err := s.verify(ctx, r); err != nil {
		return err
	}
	return r.remains()
}

// rounds bounds how often nodes are looked at after servers were made in the
// place of others.
const rounds = 3

// part is what of a plan is executed.
type part func(*cloudplan.Plan) *cloudplan.Plan

func whole(p *cloudplan.Plan) *cloudplan.Plan { return p }

// everybody is every node.
func everybody(string) bool { return true }

// holding leaves out that servers of some nodes are deleted, and what has to
// wait for that: these nodes have not left the cluster.
func holding(nodes func(name string) bool) part {
	return func(p *cloudplan.Plan) *cloudplan.Plan {
		held := map[plan.Key]bool{}
		for more := true; more; {
			more = false
			for _, c := range p.Changes {
				waits := slices.ContainsFunc(c.Needs, func(k plan.Key) bool { return held[k] })
				if !held[c.Key] && (waits || endsNode(p, c) && nodes(c.Name)) {
					held[c.Key], more = true, true
				}
			}
		}
		first := *p
		first.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return held[c.Key] })
		return &first
	}
}

// endsNode reports whether a change deletes the server of a node.
func endsNode(p *cloudplan.Plan, c Change) bool {
	return c.Kind == cloudplan.KindServer && c.Action == cloudplan.Delete && slices.ContainsFunc(p.Observed.Servers, func(o cloudplan.Server) bool {
		return o.ID == c.ID && rolesOfNodes[o.Labels[schemas.LabelRole]] != ""
	})
}

// left notes what is left to do of the infrastructure.
func (r *Report) left(p *cloudplan.Plan) {
	next := &Plan{Plan: p}
	if r.Left != nil {
		next.Nodes, next.Kubernetes = r.Left.Nodes, r.Left.Kubernetes
	}
	r.Left = next
}

// without is a plan without the changes that were made.
func (r *Report) without(p *cloudplan.Plan) *cloudplan.Plan {
	if p == nil {
		return nil
	}
	left := *p
	left.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool {
		return slices.ContainsFunc(r.Done, func(d Change) bool { return d.Key == c.Key && d.Action == c.Action })
	})
	return &left
}

// note takes in, and tells, how a change goes on.
func (r *Report) note(stage progress.Stage, e execute.Event[Change]) {
	if e.State == execute.Done {
		r.Done = append(r.Done, e.Step)
	}
	tellStep(stage, fmt.Sprintf("%s %s", e.Step.Action, e.Step.Key), e.State, e.Err)
}

// tellStep tells how a step goes on.
func tellStep(stage progress.Stage, step string, state execute.State, err error) {
	switch state {
	case execute.Started:
		stage.Step(step, progress.Begun, "")
	case execute.Done:
		stage.Step(step, progress.Done, "")
	case execute.Failed:
		stage.Step(step, progress.Failed, err.Error())
	case execute.Skipped:
		stage.Step(step, progress.Failed, "not tried, because of what failed before")
	}
}

// AgreeToDestroy is a plan of [Session.PlanDestroy], from the same observation,
// after somebody agreed to more.
func AgreeToDestroy(p *Plan, policy Policy) (*Plan, error) {
	again, err := cloudplan.Destroy(p.Desired, p.Observed, policy.Consent)
	return &Plan{Plan: again}, err
}
