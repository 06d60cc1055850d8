package config

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/render/internal/address"
	"github.com/talosgen/talosgen/schemas"
)

// Ranges are the address ranges of the private network on Hetzner.
func (c *Config) Ranges() address.Ranges { return c.ranges }

// Subnets are the subnets of the private network on Hetzner that every cluster
// has.
func (c *Config) Subnets() address.Subnets { return c.shared }

// setAddresses gives each server its address in the private network.
func (ch *checker) setAddresses() {
	if ch.Provider != schemas.Hetzner || !ch.shared.ControlPlane.IsValid() {
		return
	}
	full := map[string]bool{}
	for i := range ch.nodes {
		n := &ch.nodes[i]
		in := ch.SubnetOf(*n)
		addr, err := address.OfNode(in, n.Offset, n.Index)
		if err == nil {
			n.PrivateIP = addr
			continue
		}
		if !full[n.Pool] && !ch.overlapping {
			full[n.Pool] = true
			ch.fail("give the pool a subnet of its own, or the cluster a larger network", n.paths[0],
				"the subnet %s has addresses for %d nodes, none for offset %d and index %d", in, max(address.Room(in), 0), n.Offset, n.Index)
		}
	}
}

// SubnetOf is the subnet that a server is in.
func (c *Config) SubnetOf(n Node) netip.Prefix { return c.subnetOf(n.Subnet, n.Role) }

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

// checkSharedSubnets makes sure that the subnets that pools have for themselves
// lie beside those that every cluster has.
func (ch *checker) checkSharedSubnets(pools []pool) {
	if !ch.shared.ControlPlane.IsValid() {
		return
	}
	for _, p := range pools {
		ch.checkBeside(p.subnet, sub(p.path, "subnet"))
	}
	for i, p := range ch.Autoscaler.NodePools {
		own, _ := netip.ParsePrefix(p.Subnet) // the zero value if absent, or reported already
		ch.checkBeside(own, []string{"autoscaler", "nodepools", strconv.Itoa(i), "subnet"})
	}
}

func (ch *checker) checkBeside(own netip.Prefix, at []string) {
	s := ch.shared
	shared := []struct {
		what   string
		prefix netip.Prefix
		used   bool
	}{
		{"the control plane", s.ControlPlane, true},
		{"load balancers", s.LoadBalancers, true},
		{"workers", s.Workers, true},
		{"autoscaled servers", s.Autoscaler, ch.Autoscaler.Enabled},
		{"the vSwitch", s.BareMetal, ch.Network.VSwitch.ID != 0},
	}
	for _, other := range shared {
		if other.used && own.IsValid() && own.Overlaps(other.prefix) {
			ch.fail(ch.subnetHint(own.Bits()), at, "the subnet %s overlaps that of %s, %s", own, other.what, other.prefix)
			return
		}
	}
	if gateway, err := ch.ranges.Gateway(); err == nil && own.IsValid() && own.Contains(gateway) {
		ch.fail(ch.subnetHint(own.Bits()), at, "the subnet %s holds the gateway of the network, %s", own, gateway)
	}
}

// subnetHint names a subnet of a size, in the range of the nodes, that no part
// of the cluster has.
func (ch *checker) subnetHint(bits int) string {
	s := ch.shared
	taken := []netip.Prefix{netip.PrefixFrom(ch.ranges.Network.Addr().Next(), 32), s.ControlPlane, s.LoadBalancers, s.Workers, s.Autoscaler, s.BareMetal}
	for _, p := range ch.pools() {
		taken = append(taken, p.subnet)
	}
	for _, p := range ch.Autoscaler.NodePools {
		own, _ := netip.ParsePrefix(p.Subnet)
		taken = append(taken, own)
	}
	for p := range address.Parts(ch.ranges.Nodes, bits) {
		if !slices.ContainsFunc(taken, func(other netip.Prefix) bool { return other.IsValid() && other.Overlaps(p) }) {
			return "for example subnet: " + p.String()
		}
	}
	return ""
}
