package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// sweep removes what dead runs left, for runs that change nothing else: servers
// that images are made with cost money, and session access lets somebody in.
// Known says that something temporary was seen already.
func (s *Session) sweep(ctx context.Context, owner Owner, known bool) error {
	if s.project == nil {
		return nil
	}
	if !known {
		left, err := s.project.BuildersLeft(ctx, s.env.Infrastructure.Cluster)
		if err != nil || !left {
			return err
		}
	}
	err := s.locked(ctx, owner, func() error { return nil })
	if diag.CodeOf(err) == diag.Conflict {
		return nil // the run that it belongs to lives
	}
	return err
}

// temporary reports whether a lock or session access was observed.
func temporary(o plan.Observed) bool {
	return slices.ContainsFunc(o.Firewalls, func(f plan.Firewall) bool {
		component := f.Labels[schemas.LabelComponent]
		return component == schemas.ComponentLock || component == schemas.ComponentSession
	})
}
