package apply

import (
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/nodeplan"
	"github.com/talosgen/talosgen/apply/plan"
)

// keepingClock keeps the lock while something is waited for that asks nothing of
// Hetzner Cloud.
type keepingClock struct {
	Clock
	session *Session
}

// Sleep waits, and fails once the lock is lost.
func (k keepingClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := k.Clock.Sleep(ctx, d); err != nil {
		return err
	}
	return k.session.keepLock(ctx)
}

// watched lets a change that takes the server of a living node off for a while
// wait until the cluster can do without it, and then until the node is well
// again. Its pods move away meanwhile.
func (s *Session) watched(p *plan.Plan, stage progress.Stage, do execute.Do[Change]) execute.Do[Change] {
	return func(ctx context.Context, c Change) error {
		if s.nodes.Dial == nil || p.Destroy || c.Kind != plan.KindServer || c.Class != plan.PowerOff {
			return do(ctx, c)
		}
		cluster, err := s.cluster(ctx, p.Observed, nil)
		if err != nil {
			return err
		}
		sights, err := cluster.Look(ctx)
		if err != nil {
			return err
		}
		lives := slices.ContainsFunc(sights, func(seen nodes.Sight) bool {
			return seen.Machine.Name == c.Name && seen.Reach == nodeplan.Configured
		})
		if !lives {
			return do(ctx, c)
		}
		tell := func(text string) { stage.Step(string(c.Action)+" "+string(c.Key), progress.Note, text) }
		guard := s.guard(cluster, sights)
		guard.Tell = tell
		if err := guard.Before(ctx); err != nil {
			return err
		}
		if err := cluster.Kubernetes.Drain(ctx, c.Name, false, tell); err != nil {
			return err
		}
		if err := cluster.FreeToStop(ctx, c.Name, tell); err != nil {
			return err
		}
		if err := do(ctx, c); err != nil {
			return err
		}
		if err := guard.After(ctx, c.Name); err != nil {
			return err
		}
		return cluster.Kubernetes.Uncordon(ctx, c.Name)
	}
}
