package nodes

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/nodeplan"
)

// reset makes a machine forget that it was a node, and waits until it is in
// maintenance mode.
func (c *Cluster) reset(ctx context.Context, _ *nodeplan.Plan, s nodeplan.Step, tell func(string)) error {
	err := c.with(s.Node, func(client *node.Client) error {
		if err := forget(ctx, client); err != nil {
			return err
		}
		return client.Wipe(ctx)
	})
	if err != nil {
		return err
	}
	m, _ := c.machine(s.Node)
	patience := node.Patience{Every: c.Patience.Every, Within: c.Patience.Reboot}
	return c.wait(ctx, patience, "node "+s.Node, "in maintenance mode", tell, func(ctx context.Context) error {
		switch seen := c.see(ctx, m, func(*node.Client, *Sight) error { return nil }); {
		case seen.Reach.Bare():
			return nil
		case seen.Reach == nodeplan.Configured:
			return node.NotYet("it is %s", seen.Stage)
		default:
			return node.NotYet("%s", seen.Reason)
		}
	})
}
