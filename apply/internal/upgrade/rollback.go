package upgrade

import (
	"context"
	"errors"

	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// rollback marks the node, and lets it boot its other system. A call whose answer is lost
// is not made again: a second one in the same boot leads back to what runs.
func (u stepper) rollback(ctx context.Context, c *node.Client, s upgradeplan.Step) error {
	mark, err := u.mark(ctx, c, s, upgradeplan.Returning)
	if err != nil {
		return err
	}
	if err := c.Rollback(ctx); refused(err) {
		return errors.Join(err, u.Kubernetes.Mark(ctx, s.Node, "")) // nothing has begun
	} else if err != nil {
		return err
	}
	return u.another(ctx, c, mark.Boot)
}

// another waits until the node is in another boot.
func (u stepper) another(ctx context.Context, c *node.Client, before string) error {
	return u.wait(ctx, c.Target().Name, "in another boot", func(ctx context.Context) error {
		id, err := c.BootID(ctx)
		if err == nil && id == before {
			return node.NotYet("it has not gone down yet")
		}
		return err
	})
}
