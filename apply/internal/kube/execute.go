package kube

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

// Waiting say how long an execution waits.
type Waiting struct {
	// For a stage to be ready; 0: 10 minutes.
	Stage time.Duration
}

const (
	stageWithin   = 10 * time.Minute
	servedWithin  = time.Minute     // a kind, after its definition is established
	deletedWithin = 2 * time.Minute // an object, after it was told to go
)

// Executor makes the changes of a plan.
type Executor struct {
	Client *Client
	Waits  Waiting
	// Is told how it goes on.
	Stage progress.Stage
	// Is called before each change; an error stops. May be nil.
	Before func(context.Context) error
}

// Execute makes the changes of a plan, stage by stage: what a stage needs is
// ready before it begins. It returns the steps that were done, also with an
// error.
func (e *Executor) Execute(ctx context.Context, p *kubeplan.Plan) (done []kubeplan.Step, err error) {
	if len(p.Changes()) == 0 {
		return nil, nil
	}
	during, after := p.Inventory()
	if err := e.note(ctx, during, p.InventoryBefore()); err != nil {
		return nil, err
	}
	for _, stage := range kubeplan.Stages() {
		steps := stepsOf(p, stage)
		made, err := e.stage(ctx, steps)
		done = append(done, made...)
		if err != nil {
			return done, err
		}
		if err := e.ready(ctx, stage, steps); err != nil {
			return done, err
		}
	}
	for _, step := range p.Changes() {
		if step.Action != kubeplan.Delete {
			continue
		}
		if err := e.step(ctx, nil, step); err != nil {
			return done, err
		}
		done = append(done, step)
	}
	return done, e.note(ctx, after, during)
}

// note notes what talosgen owns, if that is news.
func (e *Executor) note(ctx context.Context, ids, before []kubeplan.ID) error {
	if sameIDs(ids, before) {
		return nil
	}
	if err := e.before(ctx); err != nil {
		return err
	}
	return e.Client.inventory().note(ctx, ids)
}

func sameIDs(a, b []kubeplan.ID) bool {
	if len(a) != len(b) {
		return false
	}
	in := map[kubeplan.ID]bool{}
	for _, id := range a {
		in[id] = true
	}
	for _, id := range b {
		if !in[id] {
			return false
		}
	}
	return true
}

func stepsOf(p *kubeplan.Plan, stage kubeplan.Stage) (steps []kubeplan.Step) {
	for _, s := range p.Steps {
		if s.Stage == stage {
			steps = append(steps, s)
		}
	}
	return steps
}

// stage makes the changes of a stage: kinds in their order, objects of equal
// rank at once.
func (e *Executor) stage(ctx context.Context, steps []kubeplan.Step) (done []kubeplan.Step, err error) {
	var changes []kubeplan.Step
	for _, s := range steps {
		if s.Effective() {
			changes = append(changes, s)
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	a, err := e.served(ctx, changes)
	if err != nil {
		return nil, err
	}
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].Item().Rank() == changes[0].Item().Rank() {
			n++
		}
		made := make([]bool, n)
		var jobs []func() error
		for i, step := range changes[:n] {
			jobs = append(jobs, func() error {
				err := e.step(ctx, &a, step)
				made[i] = err == nil
				return err
			})
		}
		err := inParallel(jobs)
		for i, step := range changes[:n] {
			if made[i] {
				done = append(done, step)
			}
		}
		if err != nil {
			return done, err
		}
		changes = changes[n:]
	}
	return done, nil
}

// served waits until the API serves the kinds of steps: it takes a moment after
// their definition is established.
func (e *Executor) served(ctx context.Context, steps []kubeplan.Step) (applier, error) {
	wait := e.Client.waitFor(servedWithin)
	for {
		a, err := e.Client.applier(ctx)
		if err != nil {
			return a, err
		}
		var problems diag.List
		for _, s := range steps {
			if _, found := a.of(s.Item().Object); !found {
				problems.Add(diag.On(s.ID().String(), "the API serves no %s", kubeplan.Served(s.Item().Object)).
					WithHint("is its CustomResourceDefinition in the tree, and established? Is the version one that this Kubernetes has?").WithCode(diag.Remote))
			}
		}
		if len(problems) == 0 || wait.over() {
			return a, problems.Err()
		}
		if err := wait.pause(ctx); err != nil {
			return a, err
		}
	}
}

func (e *Executor) before(ctx context.Context) error {
	if e.Before == nil {
		return ctx.Err()
	}
	return e.Before(ctx)
}

// step makes one change, and tells of it.
func (e *Executor) step(ctx context.Context, a *applier, s kubeplan.Step) error {
	if err := e.before(ctx); err != nil {
		return err
	}
	e.Stage.Step(s.String(), progress.Begun, "")
	err := e.change(ctx, a, s)
	if err != nil {
		e.Stage.Step(s.String(), progress.Failure(err), oneLine(err))
		return err
	}
	e.Stage.Step(s.String(), progress.Done, "")
	return nil
}

func (e *Executor) change(ctx context.Context, a *applier, s kubeplan.Step) error {
	switch s.Action {
	case kubeplan.Delete:
		return e.delete(ctx, s)
	case kubeplan.TransferOwnership, kubeplan.TakeOver:
		err := a.takeOver(ctx, s)
		if err != nil || s.Action == kubeplan.TakeOver || s.Item().Kustomization != "" {
			return err
		}
		// What is talosgen's loses the labels of Flux at once.
	case kubeplan.Replace:
		if err := e.delete(ctx, s); err != nil {
			return err
		}
	}
	_, err := a.apply(ctx, *s.Item(), false)
	return explainConflict(s, err)
}

// delete deletes exactly the object that was seen, and waits until it is gone.
func (e *Executor) delete(ctx context.Context, s kubeplan.Step) error {
	k, err := e.Client.discover(ctx)
	if err != nil {
		return err
	}
	r, found := k.of(s.Live())
	if !found {
		return nil // its kind is gone, and all objects of it
	}
	api, uid := e.Client.in(r, s.ID().Namespace), types.UID(kubeplan.UID(s.Live()))
	err = api.delete(ctx, s.ID().Name, metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationBackground), Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if absent(err) {
		return nil
	}
	if err != nil {
		return on(s.ID(), err)
	}
	wait := e.Client.waitFor(deletedWithin)
	for {
		now, err := api.get(ctx, s.ID().Name)
		if absent(err) || err == nil && kubeplan.UID(now) != kubeplan.UID(s.Live()) {
			return nil
		}
		if err == nil && wait.over() {
			return diag.On(s.ID().String(), "is not gone %s after it was deleted; finalizers: %v", deletedWithin, kubeplan.Object(now).List("metadata", "finalizers")).
				WithHint("what has put a finalizer there has to remove it: is that still running?").WithCode(diag.NotReady)
		}
		if err == nil {
			err = wait.pause(ctx)
		}
		if err != nil {
			return err
		}
	}
}
