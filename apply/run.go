package apply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// parallel is how many changes are made at once. More gain little: Hetzner
// changes a network for one after the other, and the rate limit is per project.
const parallel = 8

// releaseWithin is how long giving the lock back may take, also after an
// interrupt.
const releaseWithin = 30 * time.Second

// Owner is who runs a command, for others who find its lock.
type Owner struct {
	// Who, and on which machine, for people.
	Name string
	// What no other run has: letters, digits and hyphens.
	Run string
}

// Report is what a run did.
type Report struct {
	// The changes that were made, in the order in which they were done.
	Done []Change
	// What is left to do, as far as it is known; nil if nothing was done.
	Left *Plan
	// How long each stage took.
	Stages []StageTime
}

// Change is a change of a plan.
type Change = plan.Change

// Apply makes the changes of a plan that somebody agreed to, be it of
// [Session.Plan], [Session.PlanDestroy] or [Session.Resume], and looks again.
// Nobody else changes the cluster meanwhile. Nothing is changed if something
// that the plan reads or writes is not any more as it was: the error then has
// the exit code [diag.Conflict]. The report says what was done also if there is
// an error.
func (s *Session) Apply(ctx context.Context, agreed *Plan, policy Policy, owner Owner) (*Report, error) {
	r := &Report{Stages: s.stages}
	if !agreed.Executable() {
		return r, notExecutable(agreed)
	}
	if len(agreed.Changes) == 0 {
		r.Left = agreed
		return r, s.sweep(ctx, owner, temporary(agreed.Observed))
	}
	err := s.locked(ctx, owner, func() error {
		current, err := s.plan(ctx, "check", func(o plan.Observed) (*Plan, error) { return agreed.Again(o, Policy{}) })
		if err != nil {
			return err
		}
		if current, err = s.quiesce(ctx, current, policy); err != nil {
			return err
		}
		return s.execute(ctx, r, current, policy, owner)
	})
	r.Stages = s.stages
	return r, err
}

// locked runs something while this run holds the lock of the cluster. What dead
// runs left behind is removed first.
func (s *Session) locked(ctx context.Context, owner Owner, do func() error) (err error) {
	run := s.run(owner)
	var lock *cloud.Lock
	err = s.stage("lock", 0, func(progress.Stage) error {
		lock, err = s.project.Acquire(ctx, run)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		// Also after an interrupt: the lock would keep others out for minutes.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
		defer cancel()
		var problems diag.List
		problems.AddErr(err)
		problems.AddErr(lock.Release(ctx))
		err = problems.Err()
	}()
	if _, err := s.project.CollectSessions(ctx, run.Cluster, false); err != nil {
		return err
	}
	if _, err := s.project.CollectBuilders(ctx, run.Cluster); err != nil {
		return err
	}
	return do()
}

// execute makes the changes and notes what was done.
func (s *Session) execute(ctx context.Context, r *Report, p *Plan, policy Policy, owner Owner) error {
	return s.stage("execute", len(p.Changes), func(stage progress.Stage) error {
		loop := execute.Infrastructure(p)
		loop.Stale, loop.Sleep = cloud.Stale, s.clock.Sleep
		loop.Again = func(ctx context.Context) (*plan.Plan, error) {
			o, err := s.project.ObserveSettled(ctx, p.Desired)
			if err != nil {
				return nil, err
			}
			return again(p)(p.Desired, o, policy)
		}
		loop.Executor = func(p *plan.Plan) execute.Do[Change] {
			return s.project.Executor(p, cloud.Inputs{HostKey: s.env.hostKey, Image: s.makeImage(stage, owner)}).Do
		}
		left, err := loop.Converge(ctx, p, execute.Options[Change]{
			Parallel: parallel,
			Report:   func(e execute.Event[Change]) { r.note(stage, e) },
		})
		r.Left = r.without(left)
		return err
	})
}

// without is a plan without the changes that were made.
func (r *Report) without(p *Plan) *Plan {
	if p == nil {
		return nil
	}
	left := *p
	left.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool {
		return slices.ContainsFunc(r.Done, func(d Change) bool { return d.Key == c.Key && d.Action == c.Action })
	})
	return &left
}

// makeImage makes an image as a step of a stage.
func (s *Session) makeImage(stage progress.Stage, owner Owner) func(context.Context, schemas.InfraSnapshot) (int64, error) {
	maker := s.imageMaker(owner)
	return func(ctx context.Context, want schemas.InfraSnapshot) (int64, error) {
		step := fmt.Sprintf("%s %s", plan.Create, plan.KeyOf(plan.KindImage, plan.ImageName(want)))
		return maker.Make(ctx, want, func(text string) { stage.Step(step, progress.Note, text) })
	}
}

// again returns how a plan is made.
func again(p *Plan) func(schemas.Infrastructure, plan.Observed, Policy) (*Plan, error) {
	if p.Destroy {
		return plan.Destroy
	}
	return plan.Make
}

// note takes in, and tells, how a change goes on.
func (r *Report) note(stage progress.Stage, e execute.Event[Change]) {
	step := fmt.Sprintf("%s %s", e.Step.Action, e.Step.Key)
	switch e.State {
	case execute.Started:
		stage.Step(step, progress.Begun, "")
	case execute.Done:
		r.Done = append(r.Done, e.Step)
		stage.Step(step, progress.Done, "")
	case execute.Failed:
		stage.Step(step, progress.Failed, e.Err.Error())
	case execute.Skipped:
		stage.Step(step, progress.Failed, "not tried, because of what failed before")
	}
}

// AgreeToDestroy is a plan of [Session.PlanDestroy], from the same observation,
// after somebody agreed to more.
func AgreeToDestroy(p *Plan, policy Policy) (*Plan, error) {
	return plan.Destroy(p.Desired, p.Observed, policy)
}

// notExecutable says why a plan must not be executed, each reason once.
func notExecutable(p *Plan) error {
	var problems diag.List
	first := map[string]*diag.Problem{}
	more := map[string]int{}
	for _, n := range p.Refusals {
		if first[n.Text] != nil {
			more[n.Text]++
			continue
		}
		first[n.Text] = diag.On(object(n.Key), "%s", n.Text).WithHint("%s", n.Hint)
		problems.Add(first[n.Text])
	}
	for text, n := range more {
		first[text].Object += fmt.Sprintf(" and %d more", n)
	}
	for _, c := range p.Changes {
		if !c.Allowed {
			problems.Add(diag.On(string(c.Key), "to %s it needs consent: %s", c.Action, c.Reason).WithCode(diag.Usage))
		}
	}
	return problems.Err()
}

func object(key plan.Key) string {
	if key == "" {
		return "plan"
	}
	return string(key)
}
