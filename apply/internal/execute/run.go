// Package execute does the steps of a plan: each after those that it needs,
// several at once, and again from a new observation where the world was not as
// the plan had it. It knows no client: what does a step is passed in.
package execute

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
)

// Step is something to do: a change of the infrastructure, a step with a node.
type Step interface {
	// Order returns the name of the step within its plan, and the names of those
	// that must be done before.
	Order() (key plan.Key, needs []plan.Key)
}

// Do does one step. It returns when the step is complete.
type Do[S Step] func(context.Context, S) error

// State is how far a step is.
type State int

// The states of a step, in the order in which they are reported.
const (
	Started State = iota
	Done
	Failed
	Skipped // not tried: a step that it needs failed, or the run stopped
)

// Event is a step that reached a state.
type Event[S Step] struct {
	Step  S
	State State
	Err   error // of a failed step
}

// Options say how steps are done.
type Options[S Step] struct {
	// How many steps are done at once; less than one is one.
	Parallel int
	// Is told about every step, one at a time; may be nil.
	Report func(Event[S])
}

// Run does steps in the order of their needs. What needs a failed step is
// skipped, and so is everything once the context ends, the token is refused or
// the lock is lost; what runs then is waited for. All errors are returned.
func Run[S Step](ctx context.Context, steps []S, do Do[S], o Options[S]) error {
	r := &run[S]{steps: steps, state: make([]status, len(steps)), o: o, results: make(chan result)}
	for r.step(ctx, do) {
	}
	for i := range steps {
		if r.state[i] == waiting {
			r.finish(i, Skipped, nil)
		}
	}
	if len(r.errs) == 0 && ctx.Err() != nil {
		return Interrupted(ctx)
	}
	return r.errs.Err()
}

// Interrupted is the error of a run whose context has ended.
func Interrupted(ctx context.Context) *diag.Problem {
	return diag.On("apply", "interrupted").WithCode(diag.Interrupted).WithCause(ctx.Err()).
		WithHint("run the same command again: it goes on where this run stopped")
}

type status int

const (
	waiting status = iota
	running
	succeeded
	failed // or skipped
)

type run[S Step] struct {
	steps   []S
	state   []status
	o       Options[S]
	running int
	stopped bool
	results chan result
	errs    diag.List
}

type result struct {
	index int
	err   error
	panic string // of the step, with its stack; empty if there was none
}

// try does a step. A panic is handed over to whoever runs all steps: in a
// goroutine of its own it would end the program past everything that masks
// secrets.
func (r *run[S]) try(ctx context.Context, do Do[S], i int) (res result) {
	res.index = i
	defer func() {
		if p := recover(); p != nil {
			res.panic = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		}
	}()
	res.err = do(ctx, r.steps[i])
	return res
}

// step starts what can be started, waits for the end of one step, and reports
// whether there is more to do.
func (r *run[S]) step(ctx context.Context, do Do[S]) bool {
	for r.running < max(1, r.o.Parallel) && !r.stopped && ctx.Err() == nil {
		i := r.next()
		if i < 0 {
			break
		}
		r.state[i] = running
		r.running++
		r.report(Event[S]{Step: r.steps[i], State: Started})
		go func() { r.results <- r.try(ctx, do, i) }()
	}
	if r.running == 0 {
		return false
	}
	done := <-r.results
	r.running--
	if done.panic != "" {
		panic(done.panic)
	}
	if done.err == nil {
		r.finish(done.index, Done, nil)
		return true
	}
	r.errs.AddErr(done.err)
	r.finish(done.index, Failed, done.err)
	switch diag.CodeOf(done.err) {
	case diag.Secrets, diag.Conflict, diag.Interrupted:
		r.stopped = true
	}
	return true
}

// next returns the first step that waits for nothing, or -1. Steps that wait
// for a failed one are skipped on the way.
func (r *run[S]) next() int {
	for i, s := range r.steps {
		if r.state[i] != waiting {
			continue
		}
		switch r.needs(s) {
		case succeeded:
			return i
		case failed:
			r.finish(i, Skipped, nil)
			return r.next() // what needs this one may come before it
		}
	}
	return -1
}

// needs returns succeeded if everything that a step needs is done, failed if
// something of it failed, else waiting. What is not in the plan is done.
func (r *run[S]) needs(s S) status {
	all := succeeded
	_, needs := s.Order()
	for i, other := range r.steps {
		if key, _ := other.Order(); !slices.Contains(needs, key) {
			continue
		}
		switch r.state[i] {
		case failed:
			return failed
		case waiting, running:
			all = waiting
		}
	}
	return all
}

func (r *run[S]) finish(i int, s State, err error) {
	r.state[i] = failed
	if s == Done {
		r.state[i] = succeeded
	}
	r.report(Event[S]{Step: r.steps[i], State: s, Err: err})
}

func (r *run[S]) report(e Event[S]) {
	if r.o.Report != nil {
		r.o.Report(e)
	}
}
