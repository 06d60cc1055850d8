package config

import (
	"net/netip"
	"strconv"

	"github.com/talosgen/talosgen/render/internal/address"
	"github.com/talosgen/talosgen/schemas"
)

// givenSubnets takes the subnets that the file gives, and reports whether it gives any:
// they come in place of those that the range of the nodes is divided into.
func (ch completer) givenSubnets() bool {
	at := keys("network.subnets")
	if ch.Network.Subnets == (schemas.Subnets{}) {
		return false
	}
	s, fine := address.Subnets{}, true
	for _, g := range []struct {
		key, text string
		to        *netip.Prefix
	}{
		{"controlPlane", ch.Network.Subnets.ControlPlane, &s.ControlPlane},
		{"loadBalancers", ch.Network.Subnets.LoadBalancers, &s.LoadBalancers},
		{"workers", ch.Network.Subnets.Workers, &s.Workers},
	} {
		fine = ch.givenSubnet(sub(at, g.key), g.text, g.to) && fine
	}
	if fine {
		s.Autoscaler, s.BareMetal = s.Workers, s.Workers
		ch.shared = s
	}
	ch.onlyNodes(at)
	return true
}

func (ch completer) givenSubnet(at []string, text string, to *netip.Prefix) bool {
	p, err := netip.ParsePrefix(text)
	switch {
	case text == "" && !ch.has(at...):
		ch.fail("the three may be the same one", at[:len(at)-1], "%s is not given, but others are", display(at))
	case err != nil || !p.Addr().Is4():
		if text != "" && err == nil {
			ch.fail("", at, "%s is no IPv4 subnet", text)
		}
	case !within(ch.ranges.Network, p):
		ch.fail("", at, "%s is not in network.cidr, %s", p, ch.ranges.Network)
	case p.Bits() > address.SmallestSubnet:
		ch.fail("", at, "%s has no place for a node", p)
	default:
		*to = p
		return true
	}
	return false
}

// onlyNodes refuses what would need a subnet beside those that are given.
func (ch completer) onlyNodes(at []string) {
	for i, p := range ch.Autoscaler.NodePools {
		if ch.Autoscaler.Enabled && p.Subnet == "" {
			ch.fail("it takes any address that is free, also one that a node is to have: give the pool a subnet", keys("autoscaler.nodepools."+strconv.Itoa(i)),
				"network.subnets has none for the servers that the autoscaler makes for %q", p.Name)
		}
	}
	for _, other := range []struct {
		there bool
		path  string
	}{
		{ch.has(keys("network.nodeSubnetMaskSize")...), "network.nodeSubnetMaskSize"},
		{ch.Network.VSwitch.ID != 0, "network.vswitch"},
	} {
		if other.there {
			ch.fail("remove one of them", at, "network.subnets beside %s", other.path)
		}
	}
}
