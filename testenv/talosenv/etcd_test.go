//go:build linux

package talosenv

import (
	"context"
	"testing"
	"time"
)

// TestEtcd makes three control planes the members of one etcd.
func TestEtcd(t *testing.T) {
	begin := time.Now()
	c := Start(t, Options{ControlPlanes: 3, Workers: 1})
	elapsed := stopwatch(t, begin)

	elapsed("maintenance mode")

	client := apply(t, c, c.NewRepository(t))
	elapsed("applied")

	first := c.ControlPlanes[0]
	eventually(t, time.Minute, func(ctx context.Context) error {
		_, err := client.Run(ctx, first, "bootstrap")
		return err
	})
	elapsed("bootstrapped")

	for _, n := range c.ControlPlanes {
		eventually(t, 4*time.Minute, func(ctx context.Context) error { return members(ctx, client, n, 3) })
	}

	elapsed("3 members")

	// Losing one of three leaves a cluster that answers.
	if err := c.ControlPlanes[2].Stop(); err != nil {
		t.Fatal(err)
	}

	eventually(t, time.Minute, func(ctx context.Context) error {
		_, err := client.Run(ctx, first, "etcd", "status")
		return err
	})
}
