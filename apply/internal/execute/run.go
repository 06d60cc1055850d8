// Package execute makes the changes of a plan: each after those that it needs,
// several at once, and again from a new observation where the world was not as
// the plan had it. It knows no client: what makes a change is passed in.
package execute

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
)

// Do makes one change. It returns when the change is complete.
type Do func(context.Context, plan.Change) error

// State is how far a change is.
type State int

// The states of a change, in the order in which they are reported.
const (
	Started State = iota
	Done
	Failed
	Skipped // not tried: a change that it needs failed, or the run stopped
)

// Event is a change that reached a state.
type Event struct {
	Change plan.Change
	State  State
	Err    error // of a failed change
}

// Options say how changes are made.
type Options struct {
	// How many changes are made at once; less than one is one.
	Parallel int
	// Is told about every step, one at a time; may be nil.
	Report func(Event)
}

// Run makes changes in the order of their needs. What needs a failed change is
// skipped, and so is everything once the context ends, the token is refused or
// the lock is lost; what runs then is waited for. All errors are returned.
func Run(ctx context.Context, changes []plan.Change, do Do, o Options) error {
	r := &run{changes: changes, state: make([]status, len(changes)), o: o, results: make(chan result)}
	for r.step(ctx, do) {
	}
	for i := range changes {
		if r.state[i] == waiting {
			r.finish(i, Skipped, nil)
		}
	}
	if len(r.errs) == 0 && ctx.Err() != nil {
		return diag.On("apply", "interrupted").WithCode(diag.Interrupted).WithCause(ctx.Err()).
			WithHint("run the same command again: it goes on where this run stopped")
	}
	return r.errs.Err()
}

type status int

const (
	waiting status = iota
	running
	succeeded
	failed // or skipped
)

type run struct {
	changes []plan.Change
	state   []status
	o       Options
	running int
	stopped bool
	results chan result
	errs    diag.List
}

type result struct {
	index int
	err   error
	panic string // of the change, with its stack; empty if there was none
}

// try makes a change. A panic is handed over to whoever runs all changes: in a
// goroutine of its own it would end the program past everything that masks
// secrets.
func (r *run) try(ctx context.Context, do Do, i int) (res result) {
	res.index = i
	defer func() {
		if p := recover(); p != nil {
			res.panic = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		}
	}()
	res.err = do(ctx, r.changes[i])
	return res
}

// step starts what can be started, waits for the end of one change, and reports
// whether there is more to do.
func (r *run) step(ctx context.Context, do Do) bool {
	for r.running < max(1, r.o.Parallel) && !r.stopped && ctx.Err() == nil {
		i := r.next()
		if i < 0 {
			break
		}
		r.state[i] = running
		r.running++
		r.report(Event{Change: r.changes[i], State: Started})
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

// next returns the first change that waits for nothing, or -1. Changes that
// wait for a failed one are skipped on the way.
func (r *run) next() int {
	for i, c := range r.changes {
		if r.state[i] != waiting {
			continue
		}
		switch r.needs(c) {
		case succeeded:
			return i
		case failed:
			r.finish(i, Skipped, nil)
			return r.next() // what needs this one may come before it
		}
	}
	return -1
}

// needs returns succeeded if everything that a change needs is done, failed if
// something of it failed, else waiting. What is not in the plan is done.
func (r *run) needs(c plan.Change) status {
	all := succeeded
	for i, other := range r.changes {
		if !slices.Contains(c.Needs, other.Key) {
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

func (r *run) finish(i int, s State, err error) {
	r.state[i] = failed
	if s == Done {
		r.state[i] = succeeded
	}
	r.report(Event{Change: r.changes[i], State: s, Err: err})
}

func (r *run) report(e Event) {
	if r.o.Report != nil {
		r.o.Report(e)
	}
}
