package hetznersim

import (
	"net/netip"
	"slices"
)

// attachment is the interface of a server in a network.
type attachment struct {
	Network int64
	IP      string
	Alias   []string
	MAC     string
	status  string
}

// Statuses of members of a network.
const (
	memberOK        = "ok"
	memberAttaching = "attaching"
	memberDetaching = "detaching"
	memberUpdating  = "updating"
)

// member is a resource in a network.
type member struct {
	of     ref
	ip     netip.Addr
	alias  []string
	status string
}

// members are the resources in a network, servers first.
func (st *state) members(network int64) (all []member) {
	for _, s := range st.servers.rows {
		for _, n := range s.Nets {
			if n.Network == network {
				all = append(all, member{s.ref(), netip.MustParseAddr(n.IP), n.Alias, n.status})
			}
		}
	}
	for _, b := range st.balancers.rows {
		if b.Net != nil && b.Net.Network == network {
			all = append(all, member{b.ref(), netip.MustParseAddr(b.Net.IP), nil, b.Net.status})
		}
	}
	return all
}

// maxMembers is how many resources a network can hold.
const maxMembers = 100

// allocate finds the address of a new member of a network: the one that is
// asked for, or the first free one of a subnet in the zone, within a range if
// one is asked for.
func (st *state) allocate(n *network, zone, asked, within string) (netip.Addr, error) {
	members := st.members(n.ID)
	if len(members) >= maxMembers {
		return netip.Addr{}, overLimit("network can not have more than 100 attached resources", "network_attachment_limit")
	}
	taken := takenIn(members)
	if asked != "" {
		return n.claim(asked, zone, taken)
	}
	for _, s := range n.Subnets {
		if s.Type == "vswitch" || s.Zone != zone || within != "" && s.Range.String() != within {
			continue
		}
		for a := s.Range.Addr().Next(); s.Range.Contains(a.Next()); a = a.Next() {
			if a != n.gateway() && a != reservedAddress && !taken[a] {
				return a, nil
			}
		}
	}
	return netip.Addr{}, fail("no_subnet_available", "no subnet or IP available")
}

// takenIn are the addresses that members of a network use.
func takenIn(members []member) map[netip.Addr]bool {
	taken := map[netip.Addr]bool{}
	for _, m := range members {
		taken[m.ip] = true
		for _, a := range m.alias {
			taken[netip.MustParseAddr(a)] = true
		}
	}
	return taken
}

// claim checks an address that a member asks for.
func (n *network) claim(asked, zone string, taken map[netip.Addr]bool) (netip.Addr, error) {
	a, err := netip.ParseAddr(asked)
	if err != nil {
		return a, badField("ip", "%q is not a valid IP address.", asked)
	}
	i := slices.IndexFunc(n.Subnets, func(s subnet) bool { return s.Range.Contains(a) && s.Zone == zone })
	if i < 0 {
		return a, fail("no_subnet_available", "IP %s is in no subnet of network zone %s", a, zone)
	}
	r := n.Subnets[i].Range
	if taken[a] || a == n.gateway() || a == reservedAddress || a == r.Addr() || !r.Contains(a.Next()) {
		return a, fail("ip_not_available", "IP %s is not available", a)
	}
	return a, nil
}

// afterRange is the first address behind a range.
func afterRange(r netip.Prefix) netip.Addr {
	b := r.Addr().As4()
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	n += 1 << (32 - r.Bits())
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// leaveNetwork detaches everything from a network.
func (st *state) leaveNetwork(id int64) {
	for _, s := range slices.Clone(st.servers.rows) {
		if s.in(id) != nil {
			st.servers.change(s.ID, func(s *server) { s.Nets = s.netsWithout(id) })
		}
	}
	for _, b := range slices.Clone(st.balancers.rows) {
		if b.Net != nil && b.Net.Network == id {
			st.balancers.change(b.ID, func(b *balancer) { b.Net = nil })
		}
	}
}

// listMembers lists who is in a network (new in 2026).
func listMembers(c *call, n *network) (reply, error) {
	type row struct {
		common
		member
		subnet string
	}
	var rows []*row
	for _, m := range c.st.members(n.ID) {
		i := slices.IndexFunc(n.Subnets, func(s subnet) bool { return s.Range.Contains(m.ip) })
		r := &row{common: common{ID: m.of.ID}, member: m}
		if i >= 0 {
			r.subnet = n.Subnets[i].Range.String()
		}
		rows = append(rows, r)
	}
	l := listing[*row]{key: "members", rows: rows, plain: true,
		head: func(r *row) *common { return &r.common },
		view: func(r *row) any {
			return obj{"type": r.of.Type, "id": r.of.ID, "ip": r.ip.String(),
				"alias_ips": some(r.alias), "subnet": r.subnet, "status": r.status}
		}}
	for _, filter := range []struct {
		name string
		of   func(*row) string
	}{
		{"type", func(r *row) string { return r.of.Type }},
		{"subnet", func(r *row) string { return r.subnet }},
		{"status", func(r *row) string { return r.status }},
	} {
		if wanted := c.query[filter.name]; len(wanted) > 0 {
			l = l.only(func(r *row) bool { return slices.Contains(wanted, filter.of(r)) })
		}
	}
	return l.answer(c)
}
