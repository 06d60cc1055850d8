package health

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
)

// Guard keeps watch over a run that disturbs nodes: nothing is disturbed before
// the cluster is well, and nothing else before what was disturbed is well again.
//
// etcd has to be well without exception. Of the rest, what was ill before the
// run may stay ill: the run may be what mends it, or have nothing to do with it.
type Guard struct {
	// Reads the cluster.
	Collect func(context.Context) Facts
	Clock   node.Clock
	// How often to look, and how long a cluster may take to become well.
	Patience node.Patience
	// How long what is not etcd may be ill before a run goes on nevertheless.
	Settle time.Duration
	// Nodes that are known to be ill, or that are on their way out.
	Except []string
	// Is told what is waited for, whenever that changes; may be nil.
	Notify func(string)

	mu           sync.Mutex
	failedBefore []Result // what was ill before
}

// must are the checks that have to hold whatever was before: with them etcd
// survives the next step.
var must = []string{Reached, Stage, Quorum, Members, ControlPlanes, Leader}

// Before waits until nodes may be disturbed.
func (g *Guard) Before(ctx context.Context) error {
	settled := g.Clock.Now().Add(g.Settle)
	return g.wait(ctx, "cluster", "well", func(f Facts) []Result {
		failures := Check(f, g.Except...).Failures()
		if slices.ContainsFunc(failures, func(r Result) bool { return g.mustHold(f, r) }) || g.Clock.Now().Before(settled) {
			return failures
		}
		g.remember(failures)
		return nil
	})
}

// After waits until a node that was disturbed, and what depends on it, is well
// again. Other workers do not count: they may be disturbed at the same time.
func (g *Guard) After(ctx context.Context, name string) error {
	except := slices.DeleteFunc(slices.Clone(g.Except), func(s string) bool { return s == name })
	return g.wait(ctx, "node "+name, "well again", func(f Facts) []Result {
		return slices.DeleteFunc(Check(f, except...).Failures(), func(r Result) bool {
			return r.Node != name && isWorker(f, r.Node) || !slices.Contains(must, r.Check) && g.wasIll(r)
		})
	})
}

// mustHold reports whether nothing may be disturbed while a check fails.
func (g *Guard) mustHold(f Facts, r Result) bool {
	return slices.Contains(must, r.Check) && !isWorker(f, r.Node)
}

func isWorker(f Facts, name string) bool {
	return slices.ContainsFunc(f.Nodes, func(n Node) bool { return n.Name == name && !n.ControlPlane })
}

func (g *Guard) remember(failures []Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failedBefore = failures
	if len(failures) > 0 && g.Notify != nil {
		g.Notify("goes on, though ill already: " + join(failures))
	}
}

func (g *Guard) wasIll(r Result) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.failedBefore, func(old Result) bool { return old.Check == r.Check && old.Node == r.Node })
}

// wait looks until nothing is left that is ill.
func (g *Guard) wait(ctx context.Context, object, what string, failing func(Facts) []Result) error {
	reported := ""
	return node.WaitFor(ctx, g.Clock, g.Patience, object, what, func(ctx context.Context) error {
		failures := failing(g.Collect(ctx))
		if len(failures) == 0 {
			return nil
		}
		text := join(failures)
		if text != reported && g.Notify != nil {
			g.Notify("waits: " + text)
		}
		reported = text
		return node.NotYet("%s", text)
	})
}

// most is how many failures are named in one line.
const most = 3

func join(failures []Result) string {
	var parts []string
	for _, f := range failures[:min(most, len(failures))] {
		parts = append(parts, f.String())
	}
	if len(failures) > most {
		parts = append(parts, "and more")
	}
	return strings.Join(parts, "; ")
}
