package config

import (
	"net/netip"

	"github.com/talosgen/talosgen/render/internal/address"
	"github.com/talosgen/talosgen/schemas"
)

// Ranges are the address ranges of the private network on Hetzner.
func (c *Config) Ranges() address.Ranges { return c.ranges }

// Subnets are the subnets of the private network on Hetzner that every cluster
// has.
func (c *Config) Subnets() address.Subnets { return c.shared }

// SubnetOf is the subnet that a server is in.
func (c *Config) SubnetOf(n Node) netip.Prefix {
	if n.Dedicated {
		return c.shared.BareMetal
	}
	return c.subnetOf(n.Subnet, n.Role)
}

func (c *Config) subnetOf(own netip.Prefix, role string) netip.Prefix {
	switch {
	case own.IsValid():
		return own
	case role == ControlPlane:
		return c.shared.ControlPlane
	default:
		return c.shared.Workers
	}
}

// room is how many nodes the subnet of a pool has addresses for.
func (c *Config) room(p pool) int {
	in := c.subnetOf(p.subnet, p.role)
	if !in.IsValid() {
		return 0
	}
	return max(address.Room(in), 0)
}

// AutoscalerSubnet is the subnet of the servers that the autoscaler makes for a
// pool.
func (c *Config) AutoscalerSubnet(p schemas.AutoscalerPool) netip.Prefix {
	if own, err := netip.ParsePrefix(p.Subnet); err == nil {
		return own
	}
	return c.shared.Autoscaler
}
