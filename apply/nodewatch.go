package apply

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/internal/turn"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
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
func (s *Session) watched(p *cloudplan.Plan, stage progress.Stage, do execute.Do[Change]) execute.Do[Change] {
	return func(ctx context.Context, c Change) error {
		if s.nodes.Dial == nil || p.Destroy || c.Kind != cloudplan.KindServer || c.Class != cloudplan.PowerOff {
			err := do(ctx, c)
			if err == nil && switchedOn(c) {
				s.disturbed.add(c.Name)
			}
			return err
		}
		cluster, err := s.cluster(ctx, p.Observed, nil)
		if err != nil {
			return err
		}
		sights, err := s.disturbed.settled(ctx, cluster)
		if err != nil {
			return err
		}
		lives := slices.ContainsFunc(sights, func(seen nodes.Sight) bool {
			return seen.Machine.Name == c.Name && seen.Reach == nodeplan.Configured
		})
		if !lives {
			err := do(ctx, c)
			s.disturbed.add(c.Name) // on again, or on its way
			return err
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
		s.disturbed.add(c.Name)
		err = cluster.FreeToStop(ctx, c.Name, tell)
		if err == nil {
			err = do(ctx, c)
		}
		if err != nil {
			return letBackIn(ctx, cluster, c.Name, err)
		}
		if err := guard.After(ctx, c.Name); err != nil {
			return err
		}
		return cluster.Kubernetes.Uncordon(ctx, c.Name)
	}
}

// letBackInWithin is how long a run that failed waits for a cluster that lets pods
// in to a node again; after an interrupt somebody waits for the end.
const letBackInWithin = 5 * time.Minute

// letBackIn lets pods in again to a node whose change has failed. Where that takes
// too long, the next run does it, and is told of.
func letBackIn(ctx context.Context, c *nodes.Cluster, name string, failed error) error {
	within := letBackInWithin
	if ctx.Err() != nil {
		within = releaseWithin
	}
	ctx = context.WithoutCancel(ctx)
	end := c.Clock.Now().Add(within)
	for {
		err := c.Kubernetes.Uncordon(ctx, name)
		if err == nil {
			return failed
		}
		if !c.Clock.Now().Before(end) || c.Clock.Sleep(ctx, lookEvery) != nil {
			var problems diag.List
			problems.AddErr(failed)
			problems.Add(diag.On("node "+name, "it takes no pods: it was drained for a change that failed, and to let them in again failed too: %s", oneLine(err)).
				WithHint("the next `talosgen apply` lets them in; so does kubectl uncordon %s", name).WithCode(diag.CodeOf(failed)))
			return problems.Err()
		}
	}
}

// switchedOn reports whether a change starts a server.
func switchedOn(c Change) bool {
	return c.Kind == cloudplan.KindServer && slices.ContainsFunc(c.Fields, func(f cloudplan.Field) bool { return f.Name == cloudplan.FieldPower })
}

// disturbed are nodes whose servers a run has switched off or on: they may be on
// their way back.
type disturbed struct {
	waits   turn.Turn // of who waits for them
	mu      sync.Mutex
	names   []string
	awaited []string // nodes that were given their time, and need not come
}

func (d *disturbed) add(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names = append(d.names, name)
}

func (d *disturbed) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.names)
}

// settled looks at the nodes when those are back that were disturbed, and the
// control planes, without which nobody knows whether the cluster is well. Whoever
// was waited for in vain is not waited for again.
func (d *disturbed) settled(ctx context.Context, c *nodes.Cluster) ([]nodes.Sight, error) {
	leave, err := d.waits.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	sights, err := c.Settled(ctx, d.await(c))
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, seen := range sights {
		if seen.Reach == nodeplan.Unreachable {
			d.awaited = append(d.awaited, seen.Machine.Name)
			d.names = slices.DeleteFunc(d.names, func(name string) bool { return name == seen.Machine.Name })
		}
	}
	return sights, err
}

// await are the nodes to wait for.
func (d *disturbed) await(c *nodes.Cluster) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	await := slices.Clone(d.names)
	for _, m := range c.Machines {
		if m.InTree && m.Role == nodeplan.ControlPlane && m.Address != "" && !slices.Contains(d.awaited, m.Name) {
			await = append(await, m.Name)
		}
	}
	return await
}
