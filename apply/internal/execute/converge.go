package execute

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
)

// rounds bounds how often a run observes and plans anew. Two are the rule: one
// that changes, and one that finds nothing left.
const rounds = 10

// Loop is what a run needs to look again.
type Loop struct {
	// Observe reads what is there, when nothing is in motion any more.
	Observe func(context.Context) (plan.Observed, error)
	// Plan compares it with what is desired, by the policy of the run.
	Plan func(plan.Observed) (*plan.Plan, error)
	// Executor returns what makes the changes of a plan.
	Executor func(*plan.Plan) Do
	// Stale tells errors after which a new plan is the answer.
	Stale func(error) bool
	// Sleep waits.
	Sleep func(context.Context, time.Duration) error
}

// Converge makes the changes of a plan that somebody agreed to, observes again,
// and goes on until nothing is left to do. It returns the last plan: the empty
// one that verifies the run, or what is left.
//
// An answer that was lost, or something that others changed meanwhile, is not
// guessed about: the next round sees it. What a later round would destroy or
// switch off although nobody agreed to it ends the run instead.
func (l Loop) Converge(ctx context.Context, agreed *plan.Plan, o Options) (*plan.Plan, error) {
	current, consent := agreed, consentTo(agreed)
	var failure, done string // of the round before
	for n := range rounds {
		if len(current.Changes) == 0 {
			return current, nil
		}
		if err := consent.check(current); err != nil {
			return current, err
		}
		switch failed := Run(ctx, current.Changes, l.Executor(current), o); {
		case failed != nil && (!l.allStale(failed) || failed.Error() == failure):
			return current, failed
		case failed != nil:
			failure, done = failed.Error(), ""
			// What was lost on the way may still have its effect.
			if err := l.Sleep(ctx, time.Duration(n+1)*5*time.Second); err != nil {
				return current, failed
			}
		case text(current) == done:
			return current, diag.On("verify", "changes have no effect: %s", done).WithCode(diag.Remote).
				WithHint("please report this with the output of -v")
		default:
			failure, done = "", text(current)
		}
		observed, err := l.Observe(ctx)
		if err != nil {
			return current, err
		}
		if current, err = l.Plan(observed); err != nil {
			return nil, err
		}
	}
	return current, diag.On("apply", "after %d rounds there is still something to change: %s", rounds, text(current)).
		WithCode(diag.NotReady).WithHint("does somebody else change the project? run the same command again when they are done")
}

// allStale reports whether a new plan is the answer to every error.
func (l Loop) allStale(err error) bool {
	var list diag.List
	list.AddErr(err)
	return !slices.ContainsFunc(list, func(p *diag.Problem) bool { return !l.Stale(p) })
}

// consent is what somebody agreed to, by object.
type consent map[plan.Key]plan.Change

func consentTo(p *plan.Plan) consent {
	c := consent{}
	for _, ch := range p.Changes {
		c[ch.Key] = ch
	}
	return c
}

// check refuses what nobody has agreed to: harmless changes go without, and so
// does everything about an object that this run makes.
func (c consent) check(p *plan.Plan) error {
	var list diag.List
	for _, r := range p.Refusals {
		list.Add(diag.On(string(r.Key), "%s", r.Text).WithHint("%s", r.Hint).WithCode(diag.Conflict))
	}
	for _, ch := range p.Changes {
		agreed := c[ch.Key]
		made := agreed.Action == plan.Create || agreed.Action == plan.Replace
		switch {
		case !ch.Allowed,
			ch.Destructive && !agreed.Destructive,
			ch.Class == plan.PowerOff && agreed.Class != plan.PowerOff && !made:
			list.Add(diag.On(string(ch.Key), "to %s it was not agreed to, and is needed only since the run began: %s", ch.Action, ch.Reason).
				WithCode(diag.Conflict).WithHint("somebody else changes the project; look at a new plan"))
		}
	}
	return list.Err()
}

// text names the changes of a plan.
func text(p *plan.Plan) string {
	var parts []string
	for _, c := range p.Changes {
		var fields []string
		for _, f := range c.Fields {
			fields = append(fields, strings.TrimSuffix(f.Name+" "+f.Item, " "))
		}
		part := fmt.Sprintf("%s %s", c.Action, c.Key)
		if len(fields) > 0 {
			part += " (" + strings.Join(fields, ", ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
