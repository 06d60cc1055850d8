package apply

import (
	"context"
	"fmt"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/execute"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
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

// in is what others see of a run, in a cluster.
func (o Owner) in(cluster string) cloud.Run {
	return cloud.Run{Cluster: cluster, Owner: o.Name, ID: o.Run}
}

// run is a run that somebody agreed to, and what came of it.
type run struct {
	agreed *Plan
	policy Policy
	owner  Owner
	report *Report
}

// Report is what a run did. [Report.Summary] is what people and programs are told
// of it.
type Report struct {
	// What was to be done; nil for a run without such a plan.
	Agreed *Plan
	// The changes that were made, in the order in which they were done.
	Done []cloudplan.Change
	// The steps that were taken with nodes, in the same way.
	Steps []nodeplan.Step
	// What was done in Kubernetes, in the same way.
	Objects []kubeplan.Step
	// What is left to do, as far as it is known; nil if nothing was done.
	Left *Plan
	// How long each stage took, and what it asked for.
	Stages []summary.Stage

	upgrade      upgradeReport
	verified     verified
	ended        bool // the run came through all its stages
	env, cluster string
	requestsLeft int
	closed       []preflight.Finding // of APIs that nobody reaches now
}

// Apply makes the changes of a plan that somebody agreed to, be it of
// [Session.Plan], [Session.PlanDestroy] or [Session.Resume], and looks again.
// Nobody else changes the cluster meanwhile. Nothing is changed if something
// that the plan reads or writes is not any more as it was: the error then has
// the exit code [diag.Conflict]. What others have edited in Kubernetes is such an
// error too, after everything that does not depend on it is done. The report says
// what was done also if there is an error.
func (s *Session) Apply(ctx context.Context, agreed *Plan, policy Policy, owner Owner) (*Report, error) {
	r := newReport(s.env, s.log, agreed)
	defer r.took(s.log)
	if !agreed.Executable() {
		var problems diag.List
		problems.AddErr(notExecutable(agreed))
		problems.AddErr(s.sweeper.switchOn(ctx, owner, agreed.Observed))
		return r, problems.Err()
	}
	if agreed.Empty() {
		return r, s.rest(ctx, &run{agreed: agreed, owner: owner, report: r})
	}
	err := s.lock.locked(ctx, owner, func() error {
		current, err := s.cloud.check(ctx, agreed.Plan)
		if err != nil {
			return err
		}
		if !agreed.Destroy {
			if err := s.record.begin(ctx, current.Observed, agreed.older); err != nil {
				return err
			}
		}
		if current, err = s.quiesce(ctx, current, policy.Consent); err != nil {
			return err
		}
		now := &Plan{Plan: current, Nodes: agreed.Nodes, Kubernetes: agreed.Kubernetes, older: agreed.older}
		// Each stage plans from what is there when it begins, within what was agreed to.
		next := &run{agreed: now, policy: policy, owner: owner, report: r}
		if err := s.cloud.around(ctx, next, s.nodes); err != nil {
			return err
		}
		return s.finish(ctx, next)
	})
	return r, err
}

// rest ends a run that has nothing to do, and removes what dead runs left.
func (s *Session) rest(ctx context.Context, r *run) error {
	r.report.Left = r.agreed
	if err := s.nodes.arrived(ctx); err != nil {
		return err
	}
	if err := recordConsent(ctx, s.record, s.lock, r.agreed, r.owner); err != nil {
		return err
	}
	if err := s.sweeper.sweep(ctx, r.owner, temporary(r.agreed.Observed), r.agreed.Destroy); err != nil {
		return err
	}
	return r.report.remains()
}

// finish changes what runs in the cluster, once its nodes are there, and looks at
// the whole.
func (s *Session) finish(ctx context.Context, r *run) error {
	if err := s.kube.execute(ctx, r); err != nil {
		return err
	}
	if err := s.record.end(ctx, r.agreed); err != nil {
		return err
	}
	if err := s.verifier.execute(ctx, r); err != nil {
		return err
	}
	return r.report.remains()
}

// left notes what is left to do of the infrastructure.
func (r *Report) left(p *cloudplan.Plan) {
	next := &Plan{Plan: p}
	if r.Left != nil {
		next.Nodes, next.Kubernetes = r.Left.Nodes, r.Left.Kubernetes
	}
	r.Left = next
}

// note takes in, and tells, how a change goes on.
func (r *Report) note(stage progress.Stage, e execute.Event[cloudplan.Change]) {
	if e.State == execute.Done {
		r.Done = append(r.Done, e.Step)
	}
	notifyStep(stage, fmt.Sprintf("%s %s", e.Step.Action, e.Step.Key), e.State, e.Err)
}

// notifyStep tells how a step goes on.
func notifyStep(stage progress.Stage, step string, state execute.State, err error) {
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
