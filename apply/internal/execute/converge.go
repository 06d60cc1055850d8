package execute

import (
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// rounds bounds how often a run observes and plans anew. Two are the rule: one
// that changes, and one that finds nothing left.
const rounds = 10

// How long, and how often, what is read may lag behind what was done: at most a
// minute in all.
const (
	firstLag = 2 * time.Second
	lags     = 5
	// sameFailures is how often a run goes on after the same error: what it was
	// planned from may have lagged behind.
	sameFailures = 3
)

// Loop is what a run needs to look again. P is a plan, S one of its steps.
type Loop[P any, S Step] struct {
	// Again reads what is there, when nothing is in motion any more, and compares
	// it with what is desired, by the policy of the run.
	Again func(context.Context) (P, error)
	// Steps are those of a plan.
	Steps func(P) []S
	// Check refuses a plan that does what nobody agreed to.
	Check func(P) error
	// Text names what a plan does: if it is the same after everything was done,
	// that had no effect.
	Text func(P) string
	// Executor returns what does the steps of a plan.
	Executor func(P) Do[S]
	// Stale tells errors after which a new plan is the answer.
	Stale func(error) bool
	// Sleep waits.
	Sleep func(context.Context, time.Duration) error
}

// Converge does the steps of a plan that somebody agreed to, observes again,
// and goes on until nothing is left to do. It returns the last plan: the empty
// one that verifies the run, or what is left.
//
// An answer that was lost, or something that others changed meanwhile, is not
// guessed about: the next round sees it. What a later round would destroy or
// switch off although nobody agreed to it ends the run instead.
func (l Loop[P, S]) Converge(ctx context.Context, agreed P, o Options[S]) (P, error) {
	current := agreed
	var failure, done string // of the round before
	failures := 0            // in a row, all with the same error
	for n := range rounds {
		if len(l.Steps(current)) == 0 {
			return current, nil
		}
		if err := l.Check(current); err != nil {
			return current, err
		}
		switch failed := Run(ctx, l.Steps(current), l.Executor(current), o); {
		case failed != nil && (!l.allStale(failed) || failed.Error() == failure && failures == sameFailures):
			return current, failed
		case failed != nil:
			if failed.Error() != failure {
				failures = 0
			}
			failures++
			failure, done = failed.Error(), ""
			// What was lost on the way may still have its effect.
			if err := l.Sleep(ctx, time.Duration(n+1)*5*time.Second); err != nil {
				var list diag.List
				list.AddErr(Interrupted(ctx))
				list.AddErr(failed)
				return current, list.Err()
			}
		case l.Text(current) == done:
			return current, diag.On("verify", "changes have no effect, as far as can be read: %s", done).WithCode(diag.Remote).
				WithHint("run the same command again; if it stays so, please report it with the output of -v")
		default:
			failure, failures, done = "", 0, l.Text(current)
		}
		next, err := l.observe(ctx, done)
		if err != nil {
			return current, err
		}
		current = next
	}
	return current, diag.On("apply", "after %d rounds there is still something to change: %s", rounds, l.Text(current)).
		WithCode(diag.NotReady).WithHint("does another program change the project? run the same command again when it is done")
}

// observe plans anew. What was done a moment ago, and seems not to be, was read from
// something that lags behind: it is read again, after longer and longer pauses, and
// not done again before.
func (l Loop[P, S]) observe(ctx context.Context, done string) (P, error) {
	next, err := l.Again(ctx)
	for n := 0; n < lags && err == nil && done != "" && l.Text(next) == done && l.Check(next) == nil; n++ {
		if err := l.Sleep(ctx, firstLag<<n); err != nil {
			return next, err
		}
		next, err = l.Again(ctx)
	}
	return next, err
}

// allStale reports whether a new plan is the answer to every error.
func (l Loop[P, S]) allStale(err error) bool {
	var list diag.List
	list.AddErr(err)
	return !slices.ContainsFunc(list, func(p *diag.Problem) bool { return !l.Stale(p) })
}
