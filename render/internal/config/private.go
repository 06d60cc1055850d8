package config

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// smallestNetwork is the prefix of the smallest private network that ranges for
// nodes, services and pods are cut from.
const smallestNetwork = 24

// rfc1918 are the ranges that Hetzner takes for private networks.
var rfc1918 = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
}

// checkPrivateNetwork checks the private network on Hetzner, and that the nodes
// are in it.
func (ch networkRules) checkPrivateNetwork() {
	at := keys("network.cidr")
	network, err := netip.ParsePrefix(ch.Network.CIDR)
	if err != nil {
		return // reported already
	}
	switch private := func(p netip.Prefix) bool { return within(p, network) }; {
	case !slices.ContainsFunc(rfc1918, private):
		ch.fail("Hetzner takes 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 and parts of them", at, "network.cidr %s is not a private IPv4 range", network)
		return
	case network.Bits() > smallestNetwork:
		ch.fail("10.0.0.0/16 has place for 128 nodes", at, "network.cidr %s is too small for nodes, services and pods", network)
		return
	}
	for _, s := range ch.servers {
		if s.prefix.Addr().Is4() && !within(network, s.prefix) {
			ch.fail("the private network holds the subnets of the nodes", s.path, "node subnet %s is not in network.cidr %s", s.prefix, network)
		}
	}
	for i, r := range ch.Network.ExtraRoutes {
		if gateway, err := netip.ParseAddr(r.Gateway); err == nil && !network.Contains(gateway) {
			ch.fail("", []string{"network", "extraRoutes", strconv.Itoa(i), "gateway"}, "the gateway %s is not in network.cidr %s", gateway, network)
		}
	}
}

// within tells whether a range is a part of another one.
func within(outer, inner netip.Prefix) bool {
	return outer.Contains(inner.Addr()) && outer.Bits() <= inner.Bits()
}

// checkVIP checks the address that static control planes share.
func (ch networkRules) checkVIP() {
	at := keys("nodes.controlPlane.vip")
	vip, err := netip.ParseAddr(ch.Cluster.Nodes.ControlPlane.VIP)
	if err != nil {
		return // absent, or reported already
	}
	ch.checkOutside("the vip", vip, at)
	known, reached := false, false
	for _, n := range ch.nodes {
		if n.Address.IsValid() && n.Address.Addr() == vip {
			ch.fail("a vip is an address that no machine has", at, "the vip is the address of the node %s", n.Name)
		}
		if n.Role == ControlPlane && n.Address.IsValid() {
			known = true
			reached = reached || n.Address.Contains(vip)
		}
	}
	if known && !reached {
		ch.fail("nodes announce it on their link", at, "the vip %s is in the subnet of no control plane node", vip)
	}
}

// checkRoutes checks the gateways of routes, which only Hetzner's network has a
// default for.
func (ch networkRules) checkRoutes() {
	for i, r := range ch.Network.ExtraRoutes {
		ch.checkRoute([]string{"network", "extraRoutes", strconv.Itoa(i)}, r.Destination, r.Gateway, ch.Provider == schemas.Hetzner)
	}
	for _, n := range ch.nodes {
		for i, r := range n.Routes {
			ch.checkRoute(append(slices.Clip(n.paths[0]), "routes", strconv.Itoa(i)), r.Destination, r.Gateway, false)
		}
	}
}

func (ch networkRules) checkRoute(at []string, destination, gateway string, byDefault bool) {
	to, err := netip.ParsePrefix(destination)
	if err != nil {
		return // reported already
	}
	by, err := netip.ParseAddr(gateway)
	switch {
	case err != nil && !ch.has(sub(at, "gateway")...) && !byDefault:
		ch.fail("for example gateway: 192.168.1.1", at, "a route without gateway")
	case err == nil && by.Is4() != to.Addr().Is4():
		ch.fail("", sub(at, "gateway"), "the gateway %s has another IP version than the destination %s", by, to)
	}
}
