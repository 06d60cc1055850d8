package nodes

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
)

// reset makes a machine forget that it was a node, waits until it is in
// maintenance mode, and records that it is a new one. Who resets a machine agrees
// to that; the machine has proven to be the node before.
func (n configSteps) reset(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, notify func(string)) error {
	err := n.with(s.Node, func(client *node.Client) error {
		if err := forget(ctx, client); err != nil {
			return err
		}
		return client.Wipe(ctx)
	})
	if err != nil {
		return err
	}
	m, _ := n.machine(s.Node)
	patience := n.Patience.of(n.Patience.Reboot)
	err = n.wait(ctx, patience, "node "+s.Node, "in maintenance mode", notify, func(ctx context.Context) error {
		seen := n.probe(ctx, m, func(*node.Client, *NodeState) error { return nil })
		if seen.Reach != nodeplan.Configured && (seen.answer == newonce.Other || m.elsewhere()) {
			seen = n.newcomers().probeMaintenance(ctx, seen, newonce.Decision{Verdict: newonce.New, Proof: newonce.Consented})
		}
		switch {
		case seen.Reach.Bare():
			return nil
		case seen.Reach == nodeplan.Configured:
			return node.NotYet("it is %s", seen.Stage)
		default:
			return node.NotYet("%s", seen.Reason)
		}
	})
	if err != nil {
		return err
	}
	return n.Records.Forgotten(ctx, m)
}

// Forget records of nodes that were reset, and wait in maintenance mode, that they
// are new ones: a run may have ended between the two.
func (c *Cluster) Forget(ctx context.Context, names ...string) error {
	for _, m := range c.Machines {
		if !slices.Contains(names, m.Name) || !c.bare[m.Name] || recorded(c.Records, m).State == newonce.Blank {
			continue
		}
		if err := c.keep(ctx); err != nil {
			return err
		}
		if err := c.Records.Forgotten(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
