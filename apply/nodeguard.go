package apply

import (
	"context"
	"time"

	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

const (
	// pollEvery is how often the health of a cluster is looked at.
	pollEvery = 5 * time.Second
	// slowPoll is the same after many looks that found it ill.
	slowPoll = 15 * time.Second
	// wellWithin is how long a cluster may take to become well.
	wellWithin = 15 * time.Minute
	// settleWithin is how long what is not etcd may be ill before a run goes on.
	settleWithin = 2 * time.Minute
)

// guard watches over the health of the nodes that were seen. Of those that are
// not reached, or are new, and of those that the tree does not have, nothing is
// expected.
func guard(c *nodes.Cluster, states []nodes.NodeState) *health.Guard {
	g := &health.Guard{
		Clock: c.Clock, Patience: node.Patience{Every: pollEvery, Most: slowPoll, Within: wellWithin}, Settle: settleWithin,
	}
	var running []nodes.Machine
	for _, seen := range states {
		if seen.Reach == nodeplan.Configured {
			running = append(running, seen.Machine)
		}
		if seen.Reach != nodeplan.Configured || !seen.Machine.InTree {
			g.Except = append(g.Except, seen.Machine.Name)
		}
	}
	g.Collect = func(ctx context.Context) health.Facts { return facts(ctx, c, running, asking(c)) }
	return g
}
