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

// checkNetwork checks that ranges and addresses fit together.
func (ch *checker) checkNetwork() {
	host := ch.endpointHost()
	pods := ch.subnets("podCidrs", "pod", ch.Network.PodCidrs)
	services := ch.subnets("serviceCidrs", "service", ch.Network.ServiceCidrs)
	nodes := ch.subnets("nodeCidrs", "node", ch.Network.NodeCidrs)
	ch.checkFamilies(pods)
	ch.checkFamilies(services)
	ch.checkOverlap(slices.Concat(pods, services, nodes))
	ch.checkOutside("the endpoint", host, []string{"endpoint"}, slices.Concat(pods, services))
	for _, n := range ch.nodes {
		ch.checkNodeAddress(n, host, slices.Concat(pods, services), nodes)
	}
	ch.checkVIP(slices.Concat(pods, services))
	ch.checkRoutes()
	if ch.Provider == schemas.Hetzner {
		ch.checkFamilies(nodes)
		ch.checkPrivateNetwork(nodes)
	}
}

// endpointHost is the address in the endpoint, zero if it is a name.
func (ch *checker) endpointHost() netip.Addr {
	u, err := url.Parse(ch.Endpoint)
	if err != nil {
		return netip.Addr{} // reported already
	}
	host, _ := netip.ParseAddr(u.Hostname())
	return host
}

func (ch *checker) subnets(key, what string, texts []string) []subnet {
	var out []subnet
	for i, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			continue // reported already
		}
		item := []string{"network", key, strconv.Itoa(i)}
		if ch.has(item...) {
			out = append(out, subnet{prefix, what, item, true})
		} else {
			out = append(out, subnet{prefix, what, item[:2], false})
		}
	}
	return out
}

// checkFamilies allows one range for each IP version: there is no use for more.
func (ch *checker) checkFamilies(ranges []subnet) {
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

func (ch *checker) checkOverlap(ranges []subnet) {
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
func (ch *checker) blame(a, b subnet) (at []string, hint string) {
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
func (ch *checker) checkOutside(what string, addr netip.Addr, at []string, ranges []subnet) {
	for _, s := range ranges {
		if addr.IsValid() && s.prefix.Contains(addr) {
			ch.fail("", at, "%s %s is in the %s subnet %s", what, addr, s.what, s.prefix)
		}
	}
}

func (ch *checker) checkNodeAddress(n Node, endpoint netip.Addr, cluster, nodeSubnets []subnet) {
	if !n.Address.IsValid() {
		return
	}
	addr, at := n.Address.Addr(), slices.Concat(n.paths[0], []string{"address"})
	ch.checkOutside("the address", addr, at, cluster)
	if n.Role == Worker && addr == endpoint {
		ch.fail("the Kubernetes API runs on control plane nodes", at, "the endpoint is the address of a worker")
	}
	inside := func(s subnet) bool { return s.prefix.Contains(addr) }
	if len(nodeSubnets) > 0 && !slices.ContainsFunc(nodeSubnets, inside) {
		ch.problems.Add(diag.New(ch.Pos(at...), "the address %s is in none of network.nodeCidrs", addr).
			WithHint("the kubelet would find no address for the node"))
	}
}
