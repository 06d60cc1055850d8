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

// Inside is the beginning of a command line that runs another program in the nodes'
// network, as on the machine of somebody who has a VPN to it.
func (c *Cluster) Inside() []string {
	return c.network.enter()
}
