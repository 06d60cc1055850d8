package config

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/render/internal/address"
)

// addressRules keep the addresses of servers of Hetzner Cloud apart.
type addressRules struct {
	*reporter
	pools []pool
}

func (ch addressRules) check() {
	ch.checkPinned()
	ch.checkSharedSubnets()
	ch.checkOffsets()
	ch.checkPrivateIPs()
}

// checkSharedSubnets makes sure that the subnets that pools have for themselves
// lie beside those that every cluster has.
func (ch addressRules) checkSharedSubnets() {
	if !ch.shared.ControlPlane.IsValid() {
		return
	}
	for _, p := range ch.pools {
		if p.dedicated {
			continue // in that of the vSwitch, as they are to be
		}
		ch.checkBeside(p.subnet, sub(p.path, "subnet"))
	}
	for i, p := range ch.Autoscaler.NodePools {
		own, _ := netip.ParsePrefix(p.Subnet) // the zero value if absent, or reported already
		ch.checkBeside(own, []string{"autoscaler", "nodepools", strconv.Itoa(i), "subnet"})
	}
}

func (ch addressRules) checkBeside(own netip.Prefix, at []string) {
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
func (ch addressRules) subnetHint(bits int) string {
	s := ch.shared
	taken := []netip.Prefix{netip.PrefixFrom(ch.ranges.Network.Addr().Next(), 32), s.ControlPlane, s.LoadBalancers, s.Workers, s.Autoscaler, s.BareMetal}
	for _, p := range ch.pools {
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

// pinned is a subnet that belongs to a pool.
type pinned struct {
	prefix netip.Prefix
	pool   string
	scaled bool // the autoscaler hands out its addresses
	path   []string
}

// checkPinned checks the subnets that pools have for themselves.
func (ch addressRules) checkPinned() {
	var all []pinned
	for _, p := range ch.pools {
		if p.subnet.IsValid() && !p.dedicated {
			all = append(all, pinned{p.subnet, p.name, false, sub(p.path, "subnet")})
		}
	}
	for i, p := range ch.Autoscaler.NodePools {
		if prefix, err := netip.ParsePrefix(p.Subnet); err == nil {
			all = append(all, pinned{prefix, p.Name, true, []string{"autoscaler", "nodepools", strconv.Itoa(i), "subnet"}})
		}
	}
	for i, p := range all {
		ch.checkInNodes(p)
		for _, other := range all[:i] {
			switch {
			case !p.prefix.Overlaps(other.prefix):
			case p.prefix != other.prefix:
				ch.fail("", p.path, "the subnet %s of the pool %q overlaps the subnet %s of the pool %q", p.prefix, p.pool, other.prefix, other.pool)
			case p.scaled != other.scaled:
				ch.fail("the autoscaler takes any address that is free, also one that a node is to have", p.path,
					"the pools %q and %q share the subnet %s, and the autoscaler scales one of them", other.pool, p.pool, p.prefix)
			}
		}
	}
}

// checkInNodes makes sure that the kubelet finds the address of a node.
func (ch addressRules) checkInNodes(p pinned) {
	for _, text := range ch.Network.NodeCidrs {
		if nodes, err := netip.ParsePrefix(text); err != nil || within(nodes, p.prefix) {
			return
		}
	}
	ch.fail("the range of the nodes holds all their subnets", p.path, "the subnet %s of the pool %q is in none of network.nodeCidrs", p.prefix, p.pool)
}
