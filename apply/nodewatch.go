package apply

import (
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

// nodeWatch watches over the nodes whose servers a run takes off for a while.
type nodeWatch struct {
	connect   *connector
	disturbed *disturbed
}

// watched lets a change that takes the server of a living node off for a while
// wait until the cluster can do without it, and then until the node is well
// again. Its pods move away meanwhile.
func (w *nodeWatch) watched(p *cloudplan.Plan, stage progress.Stage, do execute.Do[cloudplan.Change]) execute.Do[cloudplan.Change] {
	return func(ctx context.Context, c cloudplan.Change) error {
		if w.connect.reach.dial == nil || p.Destroy || c.Kind != cloudplan.KindServer || c.Class != cloudplan.PowerOff {
			err := do(ctx, c)
			if err == nil && switchedOn(c) {
				w.disturbed.add(c.Name)
			}
			return err
		}
		cluster, err := w.connect.at(ctx, p.Observed, nil)
		if err != nil {
			return err
		}
		states, err := w.disturbed.settled(ctx, cluster)
		if err != nil {
			return err
		}
		lives := slices.ContainsFunc(states, func(seen nodes.NodeState) bool {
			return seen.Machine.Name == c.Name && seen.Reach == nodeplan.Configured
		})
		if !lives {
			err := do(ctx, c)
			w.disturbed.add(c.Name) // on again, or on its way
			return err
		}
		notify := func(text string) { stage.Step(string(c.Action)+" "+string(c.Key), progress.Note, text) }
		guard := guard(cluster, states)
		guard.Notify = notify
		if err := guard.Before(ctx); err != nil {
			return err
		}
		if err := cluster.Kubernetes.Drain(ctx, c.Name, false, notify); err != nil {
			return err
		}
		w.disturbed.add(c.Name)
		err = cluster.FreeToStop(ctx, c.Name, notify)
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
	patience := node.Patience{Every: pollEvery, Most: slowPoll}
	end := c.Clock.Now().Add(within)
	for polls := 0; ; polls++ {
		err := c.Kubernetes.Uncordon(ctx, name)
		if err == nil {
			return failed
		}
		if !c.Clock.Now().Before(end) || c.Clock.Sleep(ctx, patience.Pause(polls)) != nil {
			var problems diag.List
			problems.AddErr(failed)
			problems.Add(diag.On("node "+name, "it takes no pods: it was drained for a change that failed, and to let them in again failed too: %s", oneLine(err)).
				WithHint("the next `talosgen apply` lets them in; so does kubectl uncordon %s", name).WithCode(diag.CodeOf(failed)))
			return problems.Err()
		}
	}
}

// switchedOn reports whether a change starts a server.
func switchedOn(c cloudplan.Change) bool {
	return c.Kind == cloudplan.KindServer && slices.ContainsFunc(c.Fields, func(f cloudplan.Field) bool { return f.Name == cloudplan.FieldPower })
}
