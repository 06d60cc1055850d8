package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// sweeper removes what dead runs left, for runs that change nothing else.
type sweeper struct {
	project   *cloud.Client // nil for machines that exist already
	cluster   string
	inventory *inventory
	log       *runLog
	lock      *locker
}

// sweep removes what dead runs left, for runs that change nothing else: servers
// that images are made with cost money, and session access lets somebody in.
// Known says that something temporary was seen already; all, that nothing may be
// left, so that it is an error if it belongs to a run that lives.
func (s *sweeper) sweep(ctx context.Context, owner Owner, known, all bool) error {
	if s.project == nil {
		return nil
	}
	if !known {
		left, err := s.project.BuildersLeft(ctx, s.cluster)
		if err != nil || !left {
			return err
		}
	}
	err := s.lock.locked(ctx, owner, func() error { return nil })
	if diag.CodeOf(err) == diag.Conflict && !all {
		return nil // the run that it belongs to lives
	}
	return err
}

// switchOn starts servers that a dead run has left off, also where nothing else may
// be done.
func (s *sweeper) switchOn(ctx context.Context, owner Owner, o cloudplan.Observed) error {
	var off []cloudplan.Server
	for _, server := range o.Servers {
		if s.inventory.owns(server) && cloudplan.LeftOff(server) {
			off = append(off, server)
		}
	}
	if s.project == nil || len(off) == 0 {
		return nil
	}
	err := s.lock.locked(ctx, owner, func() error {
		return s.log.stage("switch on", len(off), func(stage progress.Stage) error {
			var problems diag.List
			for _, server := range off {
				step := "switch on " + server.Name
				stage.Step(step, progress.Begun, "a run that was interrupted has left it off")
				err := s.project.SwitchOn(ctx, server)
				if problems.AddErr(err); err != nil {
					stage.Step(step, progress.Failed, oneLine(err))
					continue
				}
				stage.Step(step, progress.Done, "")
			}
			return problems.Err()
		})
	})
	if diag.CodeOf(err) == diag.Conflict {
		return nil // the run that they belong to lives
	}
	return err
}

// temporary reports whether a lock or session access was observed.
func temporary(o cloudplan.Observed) bool { return slices.ContainsFunc(o.Firewalls, isTemporary) }

// leftByOthers reports whether a lock or session access of another run was observed.
func leftByOthers(o cloudplan.Observed, run string) bool {
	return slices.ContainsFunc(o.Firewalls, func(f cloudplan.Firewall) bool {
		return isTemporary(f) && f.Labels[schemas.LabelPrefix+"run"] != run
	})
}

func isTemporary(f cloudplan.Firewall) bool {
	component := f.Labels[schemas.LabelComponent]
	return component == schemas.ComponentLock || component == schemas.ComponentSession
}
