package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
)

// quiesce prepares a destroy: what makes servers and load balancers is stopped
// before the first deletion. What it made since somebody looked is in the plan
// that is returned, as far as the policy agrees to such things.
func quiesce(ctx context.Context, s *Session, p *cloudplan.Plan, policy plan.Consent) (*cloudplan.Plan, error) {
	if !p.Destroy || len(p.Changes) == 0 {
		return p, nil
	}
	stopped, err := stopper{kube: s.connect.kube, log: s.log}.stop(ctx, p)
	// Nothing more is asked of the cluster: what let somebody in is in no plan.
	if err = errors.Join(err, s.Close(ctx)); err != nil || !stopped {
		return p, err
	}
	return s.cloud.observe(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) { return cloudplan.Destroy(p.Desired, o, policy) })
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
		return r, rest(ctx, s, &run{agreed: agreed, owner: owner, report: r})
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
		if current, err = quiesce(ctx, s, current, policy.Consent); err != nil {
			return err
		}
		now := &Plan{Plan: current, Nodes: agreed.Nodes, Kubernetes: agreed.Kubernetes, Recreate: agreed.Recreate, older: agreed.older}
		policy.Rebuild, policy.Keep, policy.Surge = agreed.consented.Rebuild, agreed.consented.Keep, agreed.consented.Surge
		policy.Allow = slices.Concat(policy.Allow, agreed.consented.Allow)
		// Each stage plans from what is there when it begins, within what was agreed to.
		next := &run{agreed: now, policy: policy, owner: owner, report: r, recreate: agreed.Recreate.DueNames()}
		if err := s.cloud.around(ctx, next, s.nodes); err != nil {
			return err
		}
		if err := s.anew.execute(ctx, next); err != nil {
			return err
		}
		return s.finish(ctx, next)
	})
	return r, err
}

// rest ends a run that has nothing to do, and removes what dead runs left.
func rest(ctx context.Context, s *Session, r *run) error {
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
