package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// subnet is an address range and its place in the file.
type subnet struct {
	prefix netip.Prefix
	what   string // pod, service or node
	path   []string
	set    bool // by the file; else it is a default
}

// networkRules are about ranges and addresses that have to fit together.
type networkRules struct {
	*reporter
	pods, services, servers []subnet // servers are the nodes
}

func rangesOf(r *reporter) networkRules {
	return networkRules{
		reporter: r,
		pods:     r.subnets("podCidrs", "pod", r.Network.PodCidrs),
		services: r.subnets("serviceCidrs", "service", r.Network.ServiceCidrs),
		servers:  r.subnets("nodeCidrs", "node", r.Network.NodeCidrs),
	}
}

func (ch networkRules) check() {
	ch.checkFamilies(ch.pods)
	ch.checkFamilies(ch.services)
	ch.checkOverlap(slices.Concat(ch.pods, ch.services, ch.servers))
	ch.checkOutside("the endpoint", ch.endpointHost(), []string{"endpoint"})
	for _, n := range ch.nodes {
		ch.checkNodeAddress(n)
	}
	ch.checkVIP()
	ch.checkRoutes()
	if ch.Provider == schemas.Hetzner {
		ch.checkFamilies(ch.servers)
		ch.checkPrivateNetwork()
	}
}

// endpointHost is the address in the endpoint, zero if it is a name.
func (c *Config) endpointHost() netip.Addr {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return netip.Addr{} // reported already
	}
	host, _ := netip.ParseAddr(u.Hostname())
	return host
}

// subnets are the ranges at a key of network, with their places.
func (c *Config) subnets(key, what string, texts []string) []subnet {
	var out []subnet
	for i, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			continue // reported already
		}
		item := []string{"network", key, strconv.Itoa(i)}
		if c.has(item...) {
			out = append(out, subnet{prefix, what, item, true})
		} else {
			out = append(out, subnet{prefix, what, item[:2], false})
		}
	}
	return out
}

// checkFamilies allows one range for each IP version: there is no use for more.
func (ch networkRules) checkFamilies(ranges []subnet) {
	var seen [2]bool
	for _, s := range ranges {
		family := 0
		if s.prefix.Addr().Is6() {
			family = 1
		}
		if seen[family] {
			ch.fail("at most one IPv4 and one IPv6 subnet", s.path,
				"a second %s subnet of the same IP version: %s", s.what, s.prefix)
		}
		seen[family] = true
	}
}

func (ch networkRules) checkOverlap(ranges []subnet) {
	for i, s := range ranges {
		for _, other := range ranges[:i] {
			if s.prefix.Overlaps(other.prefix) {
				at, hint := ch.blame(s, other)
				ch.fail(hint, at, "%s subnet %s overlaps %s subnet %s", s.what, s.prefix, other.what, other.prefix)
			}
		}
	}
}

// blame chooses the place for a conflict of two subnets, of which one may be a
// default.
func (ch networkRules) blame(a, b subnet) (at []string, hint string) {
	switch {
	case !b.set:
		return a.path, b.prefix.String() + " is the default of " + display(b.path)
	case !a.set:
		return b.path, a.prefix.String() + " is the default of " + display(a.path)
	}
	return a.path, ""
}

// checkOutside makes sure that no address of a pod or service can be equal to
// one that is in use outside.
func (ch networkRules) checkOutside(what string, addr netip.Addr, at []string) {
	for _, s := range slices.Concat(ch.pods, ch.services) {
		if addr.IsValid() && s.prefix.Contains(addr) {
			ch.fail("", at, "%s %s is in the %s subnet %s", what, addr, s.what, s.prefix)
		}
	}
}

func (ch networkRules) checkNodeAddress(n Node) {
	if !n.Address.IsValid() {
		return
	}
	addr, at := n.Address.Addr(), slices.Concat(n.paths[0], []string{"address"})
	ch.checkOutside("the address", addr, at)
	if n.Dedicated {
		return // it is the public one
	}
	if n.Role == Worker && addr == ch.endpointHost() {
		ch.fail("the Kubernetes API runs on control plane nodes", at, "the endpoint is the address of a worker")
	}
	inside := func(s subnet) bool { return s.prefix.Contains(addr) }
	if len(ch.servers) > 0 && !slices.ContainsFunc(ch.servers, inside) {
		ch.problems.Add(diag.New(ch.Pos(at...), "the address %s is in none of network.nodeCidrs", addr).
			WithHint("the kubelet would find no address for the node"))
	}
}
