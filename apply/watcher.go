package apply

import (
	"context"
	"fmt"
	"slices"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/diag"
)

// Watcher watches over a cluster: it looks again and again, in a session of its own each
// time, and remembers what it has found. What it does is what the package plan/watch
// decides, by the plan and the steps of [Session.Apply] and [Session.Replace]. One that was
// just made has found nothing yet.
type Watcher struct {
	// What it may do.
	Policy watch.Policy

	memory watch.Memory
}

// Watched is what a look has found, and what is decided about it.
type Watched struct {
	// What apply would do now, with nobody's consent.
	Plan *Plan
	// What was seen, and what is to be done about it.
	Found   watch.Observation
	Decided watch.Decision
}

// moves are the routes that are led to another gateway.
func (w *Watched) moves() []string {
	return slices.DeleteFunc(slices.Clone(w.Found.Moves), func(key string) bool { return slices.Contains(w.Decided.Held, key) })
}

// Observe looks at the cluster, and decides. Nothing is changed. unsafe says what else speaks
// against changing anything. A look that fails says nothing about any node.
func (w *Watcher) Observe(ctx context.Context, s *Session, unsafe ...string) (*Watched, error) {
	p, l, err := watchObserver{s}.observe(ctx)
	if err != nil {
		return nil, err
	}
	l.Unsafe = append(l.Unsafe, unsafe...)
	seen := &Watched{Plan: p, Found: l}
	seen.Decided, w.memory = watch.Decide(w.memory, l, w.Policy)
	return seen, nil
}

// Awaited are the workers that are found dead, and for which the time has not come.
func (w *Watcher) Awaited(seen *Watched) []string {
	return watch.Awaited(w.memory, seen.Found, w.Policy)
}

// Heal does what was decided about a look, one run after the other, each of which is
// told to ended with its error. If nothing was, it removes what dead runs have left. It ends
// with the first that fails. That another run has
// the lock, or was faster, is an error with the exit code [diag.Conflict].
func (w *Watcher) Heal(ctx context.Context, s *Session, seen *Watched, owner Owner, ended func(*Report, error)) error {
	run := func(r *Report, err error) error {
		ended(r, err)
		return err
	}
	if !seen.Decided.Does() {
		return w.sweep(ctx, s, seen, owner)
	}
	if seen.Decided.Drift {
		if err := run(w.drift(ctx, s, seen, owner)); err != nil {
			return err
		}
	}
	join := seen.Decided.Join
	if seen.Decided.Replace != "" {
		if err := run(w.replace(ctx, s, seen, owner)); err != nil {
			return err
		}
		join = []string{seen.Decided.Replace}
	}
	if len(join) == 0 {
		return nil
	}
	return run(w.join(ctx, s, join, owner))
}

// sweep removes what dead runs have left, such as a watch that was killed after it had done
// everything: what lets somebody in for the time of a run, and the lock.
func (w *Watcher) sweep(ctx context.Context, s *Session, seen *Watched, owner Owner) error {
	if len(seen.Found.Unsafe) > 0 || !leftByOthers(seen.Plan.Observed, owner.Run) {
		return nil
	}
	return s.sweeper.sweep(ctx, owner, true, false)
}

// drift makes those changes of a plan that disturb nothing, from what is there now.
func (w *Watcher) drift(ctx context.Context, s *Session, seen *Watched, owner Owner) (*Report, error) {
	p, safe := seen.Plan, harmless(seen.Decided.Held)
	r := newReport(s.env, s.log, &Plan{Plan: safe(p.Plan)})
	defer r.took(s.log)
	err := s.lock.locked(ctx, owner, func() error {
		now, err := s.cloud.check(ctx, p.Plan)
		if err != nil {
			return err
		}
		if err := s.record.begin(ctx, now.Observed, false); err != nil {
			return err
		}
		w.memory = w.memory.Moved(seen.moves(), seen.Found.At)
		i := &infrastructure{cloudStage: s.cloud, report: r, agreed: now, latest: now, all: safe, owner: owner}
		return i.change(ctx, i.all)
	})
	r.ended = err == nil
	return r, err
}

// replace makes a dead worker anew, if it is dead still, and has the same server, when
// nobody else can change that any more.
func (w *Watcher) replace(ctx context.Context, s *Session, seen *Watched, owner Owner) (*Report, error) {
	name := seen.Decided.Replace
	r := newReport(s.env, s.log, nil)
	defer r.took(s.log)
	err := s.lock.locked(ctx, owner, func() error {
		_, now, err := watchObserver{s}.observe(ctx)
		if err != nil {
			return err
		}
		if why := now.Spares(name, seen.Decided.Machine); why != "" {
			return diag.On("node "+name, "it is not replaced: %s", why).WithCode(diag.Conflict)
		}
		agreed, err := s.PlanRemoval(ctx, s.ToReplace(name))
		if err != nil {
			return err
		}
		if err := refused(agreed.Refusals); err != nil {
			return err
		}
		w.memory = w.memory.Began(name, now.At)
		notes := s.project.Notes(s.env.Infrastructure.Cluster)
		if err := notes.Write(ctx, map[string]string{noteReplacing: name}); err != nil {
			return err
		}
		if err := s.removal.execute(ctx, r, agreed, s.ToReplace(name)); err != nil {
			return err
		}
		if err := s.removal.replace(ctx, r, name, owner); err != nil {
			return err
		}
		return notes.Write(ctx, map[string]string{noteReplacing: ""})
	})
	r.ended = err == nil
	return r, err
}

// join gives new machines of workers their configuration, and does nothing else.
func (w *Watcher) join(ctx context.Context, s *Session, names []string, owner Owner) (*Report, error) {
	policy := Policy{Nodes: names, Stages: []Stage{stageNodes}}
	p, err := s.Plan(ctx, policy)
	if err != nil {
		return newReport(s.env, s.log, nil), err
	}
	if i := slices.IndexFunc(p.Nodes.Steps, func(st nodeplan.Step) bool { return st.Role != nodeplan.Worker }); i >= 0 {
		return newReport(s.env, s.log, nil), diag.On("node "+p.Nodes.Steps[i].Node, "a watch does not %s it", p.Nodes.Steps[i].Action).
			WithHint("`talosgen apply %s`", s.env.name)
	}
	return s.Apply(ctx, p, policy, owner)
}

// Lines are what the run has done, a line each.
func (r *Report) Lines() (all []string) {
	for _, i := range r.items() {
		all = append(all, fmt.Sprintf("%s %s", i.Action, i.Object))
	}
	return all
}
