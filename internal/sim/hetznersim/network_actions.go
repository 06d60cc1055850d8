package hetznersim

import (
	"net/netip"
	"slices"
	"time"
)

type subnetInput struct {
	Type    string `json:"type"`
	Range   string `json:"ip_range"`
	Zone    string `json:"network_zone"`
	VSwitch *int64 `json:"vswitch_id"`
}

type routeInput struct {
	Destination string `json:"destination"`
	Gateway     string `json:"gateway"`
}

// privateRanges are those of RFC 1918.
var privateRanges = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"),
}

// reservedAddress is the gateway of the public interfaces.
var reservedAddress = netip.MustParseAddr("172.31.1.1")

// Limits of networks.
const (
	maxSubnets = 50
	maxRoutes  = 100
	smallest   = 30 // bits of the mask of the smallest subnet
)

// privateRange reads an IP range within those of RFC 1918.
func privateRange(v *invalid, field, text string) netip.Prefix {
	if text == "" {
		v.add(field, missing)
		return netip.Prefix{}
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || !p.Addr().Is4() || p.Masked() != p {
		v.add(field, "%q is not a valid IPv4 network.", text)
		return netip.Prefix{}
	}
	private := slices.ContainsFunc(privateRanges, func(all netip.Prefix) bool { return covers(all, p) })
	v.check(private, field, "IP range must be within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16.")
	v.check(p.Bits() <= smallest, field, "IP range must be /%d or larger.", smallest)
	return p
}

// covers reports whether a range holds another one as a whole.
func covers(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// withSubnet returns the network with a subnet more.
func (n *network) withSubnet(cat *catalogue, in subnetInput) (*network, error) {
	var v invalid
	v.check(in.Type == "cloud" || in.Type == "server" || in.Type == "vswitch", "type", "Must be one of: cloud, server, vswitch.")
	v.check(in.Type != "vswitch" || in.VSwitch != nil, "vswitch_id", missing)
	v.check(cat.hasZone(in.Zone), "network_zone", "%q is not a network zone.", in.Zone)
	r := n.freeRange()
	if in.Range != "" {
		r = privateRange(&v, "ip_range", in.Range)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if !r.IsValid() || !covers(n.Range, r) {
		return nil, badField("ip_range", "Subnet must be within the IP range of the network.")
	}
	if r.Contains(reservedAddress) {
		return nil, badField("ip_range", "%s is reserved.", reservedAddress)
	}
	for _, s := range n.Subnets {
		if s.Range.Overlaps(r) {
			return nil, badField("ip_range", "Subnet overlaps with %s.", s.Range)
		}
	}
	if len(n.Subnets) >= maxSubnets {
		return nil, overLimit("subnet limit exceeded", "subnet_limit")
	}
	next := *n
	next.Subnets = with(n.Subnets, subnet{in.Type, r, in.Zone, in.VSwitch})
	return &next, nil
}

// coupled refuses a subnet with a vSwitch that the owner does not have, or that
// another network has already.
func (st *state) coupled(network int64, s subnetInput) error {
	if s.Type != "vswitch" || s.VSwitch == nil {
		return nil
	}
	if !slices.Contains(st.vSwitches, *s.VSwitch) {
		return fail("service_error", "vswitch not found")
	}
	for _, n := range st.networks.rows {
		used := slices.ContainsFunc(n.Subnets, func(o subnet) bool { return deref(o.VSwitch) == *s.VSwitch })
		if used && n.ID != network {
			return fail("vswitch_id_already_used", "vswitch %d is already used in another network", *s.VSwitch)
		}
	}
	return nil
}

// freeRange is the first /24 of the network that no subnet uses.
func (n *network) freeRange() netip.Prefix {
	r := netip.PrefixFrom(n.Range.Addr(), max(24, n.Range.Bits()))
	for covers(n.Range, r) {
		if !slices.ContainsFunc(n.Subnets, func(s subnet) bool { return s.Range.Overlaps(r) }) {
			return r
		}
		r = netip.PrefixFrom(afterRange(r), r.Bits())
	}
	return netip.Prefix{}
}

// withRoute returns the network with a route more.
func (n *network) withRoute(in routeInput) (*network, error) {
	h, err := n.hop(in)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(n.Routes, func(other hop) bool { return other.Destination == h.Destination }) {
		return nil, badField("destination", "A route to %s exists.", h.Destination)
	}
	if len(n.Routes) >= maxRoutes {
		return nil, overLimit("route limit exceeded", "route_limit")
	}
	next := *n
	next.Routes = with(n.Routes, h)
	return &next, nil
}

// hop checks a route: it goes through an address of the network that is not its
// gateway, to a place outside of its subnets.
func (n *network) hop(in routeInput) (hop, error) {
	var v invalid
	to, err := netip.ParsePrefix(in.Destination)
	v.check(err == nil && to.Masked() == to && to.Addr().Is4(), "destination", "%q is not a valid IPv4 network.", in.Destination)
	via, err := netip.ParseAddr(in.Gateway)
	v.check(err == nil && n.Range.Contains(via) && via != n.gateway() && via != reservedAddress, "gateway",
		"%q is not an address of the network, or is reserved.", in.Gateway)
	overlap := slices.ContainsFunc(n.Subnets, func(s subnet) bool { return covers(s.Range, to) || covers(to, s.Range) && to.Bits() > 0 })
	v.check(!overlap, "destination", "%q overlaps with a subnet.", in.Destination)
	return hop{to, via}, v.err()
}

// replaceNetwork begins an action that puts a changed network in place.
func (c *call) replaceNetwork(command string, n *network, change func(*network)) (reply, error) {
	return c.acted(c.begin(job{command: command, on: []ref{n.ref()}, finish: func(st *state, _ time.Time) {
		st.networks.change(n.ID, change)
	}}))
}

func addSubnet(c *call, n *network) (reply, error) {
	in, err := decode[subnetInput](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(n.ref()); err != nil {
		return reply{}, err
	}
	next, err := n.withSubnet(c.st.cat, in)
	if err != nil {
		return reply{}, err
	}
	if err := c.st.coupled(n.ID, in); err != nil {
		return reply{}, err
	}
	return c.replaceNetwork("add_subnet", n, func(n *network) { n.Subnets = next.Subnets })
}

func deleteSubnet(c *call, n *network) (reply, error) {
	in, err := decode[struct {
		Range string `json:"ip_range"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(n.ref()); err != nil {
		return reply{}, err
	}
	r, err := netip.ParsePrefix(in.Range)
	if err != nil {
		return reply{}, badField("ip_range", "%q is not a valid IPv4 network.", in.Range)
	}
	left := keep(n.Subnets, func(s subnet) bool { return s.Range != r })
	if len(left) == len(n.Subnets) {
		return reply{}, fail("not_found", "subnet %s not found", r)
	}
	for _, m := range c.st.members(n.ID) {
		switch {
		case !r.Contains(m.ip):
		case m.of.Type == kindServer:
			return reply{}, fail("service_error", "cannot remove subnet because servers are attached to it")
		default:
			return reply{}, fail("service_error", "cannot remove subnet because the network has attached resources")
		}
	}
	for _, b := range c.st.balancers.rows {
		if b.Net != nil && b.Net.Network == n.ID && slices.ContainsFunc(b.Targets, func(t lbTarget) bool { return t.within(r) }) {
			return reply{}, fail("service_error", "cannot remove subnet because load balancer %d has targets in it", b.ID)
		}
	}
	return c.replaceNetwork("delete_subnet", n, func(n *network) { n.Subnets = left })
}

func addRoute(c *call, n *network) (reply, error) {
	in, err := decode[routeInput](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(n.ref()); err != nil {
		return reply{}, err
	}
	next, err := n.withRoute(in)
	if err != nil {
		return reply{}, err
	}
	return c.replaceNetwork("add_route", n, func(n *network) { n.Routes = next.Routes })
}

func deleteRoute(c *call, n *network) (reply, error) {
	in, err := decode[routeInput](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(n.ref()); err != nil {
		return reply{}, err
	}
	left := keep(n.Routes, func(h hop) bool {
		return h.Destination.String() != in.Destination || h.Gateway.String() != in.Gateway
	})
	if len(left) == len(n.Routes) {
		return reply{}, fail("not_found", "route to %s not found", in.Destination)
	}
	return c.replaceNetwork("delete_route", n, func(n *network) { n.Routes = left })
}

// changeRange extends a network: the same first address, a shorter mask.
func changeRange(c *call, n *network) (reply, error) {
	in, err := decode[struct {
		Range string `json:"ip_range"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(n.ref()); err != nil {
		return reply{}, err
	}
	var v invalid
	r := privateRange(&v, "ip_range", in.Range)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	if r.Addr() != n.Range.Addr() || r.Bits() > n.Range.Bits() {
		return reply{}, badField("ip_range", "IP range can only be extended, by a shorter mask.")
	}
	return c.replaceNetwork("change_ip_range", n, func(n *network) { n.Range = r })
}
