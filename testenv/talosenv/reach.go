//go:build linux

package talosenv

import (
	"context"
	"net"
)

// Dial connects to an address of the nodes' network, also where this machine does
// not reach it.
func (c *Cluster) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	return c.network.dial(ctx, address)
}
