package hetznersim

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// joinNetwork reserves an interface of a server in a network; it is attached
// when the action that brings it about ends.
func (c *call) joinNetwork(id, network int64, asked, within string, alias []string) error {
	s, n := c.st.servers.get(id), c.st.networks.get(network)
	switch {
	case n == nil:
		return notFound(kindNetwork, network)
	case s.in(network) != nil:
		return fail("server_already_attached", "server is already attached to network")
	}
	if err := c.lock(n.ref()); err != nil {
		return err
	}
	for _, a := range s.Nets {
		if c.st.networks.get(a.Network).Range.Overlaps(n.Range) {
			return fail("networks_overlap", "network overlaps with network %d of the server", a.Network)
		}
	}
	ip, err := c.st.allocate(n, c.st.cat.zone(s.Location), asked, within)
	if err != nil {
		return err
	}
	if err := c.st.checkAliases(n, s, ip, alias); err != nil {
		return err
	}
	c.st.servers.change(id, func(s *server) {
		s.Nets = with(s.Nets, attachment{Network: network, IP: ip.String(), Alias: alias, MAC: c.st.newMAC(), status: memberAttaching})
	})
	return nil
}

// newMAC returns a MAC address as Hetzner's look.
func (st *state) newMAC() string {
	n := st.newID()
	return fmt.Sprintf("86:00:00:%02x:%02x:%02x", byte(n>>16), byte(n>>8), byte(n))
}

// checkAliases refuses further addresses that are not free in the network.
func (st *state) checkAliases(n *network, s *server, ip netip.Addr, alias []string) error {
	taken := map[netip.Addr]bool{ip: true}
	for _, m := range st.members(n.ID) {
		if m.of == s.ref() {
			continue
		}
		for a := range takenIn([]member{m}) {
			taken[a] = true
		}
	}
	for _, text := range alias {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return badField("alias_ips", "%q is not a valid IP address.", text)
		}
		inside := slices.ContainsFunc(n.Subnets, func(s subnet) bool { return s.Range.Contains(a) })
		if !inside || taken[a] || a == n.gateway() || a == reservedAddress {
			return fail("ip_not_available", "IP %s is not available", a)
		}
		taken[a] = true
	}
	return nil
}

func attachServer(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Network int64    `json:"network"`
		IP      string   `json:"ip"`
		Range   string   `json:"ip_range"`
		Alias   []string `json:"alias_ips"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(s.ref()); err != nil {
		return reply{}, err
	}
	if err := c.joinNetwork(s.ID, in.Network, in.IP, in.Range, in.Alias); err != nil {
		return reply{}, err
	}
	return c.acted(c.begin(job{
		command: "attach_to_network", on: []ref{s.ref(), {in.Network, kindNetwork}},
		finish: setMember(s.ID, in.Network, func(a *attachment) { a.status = memberOK }),
		undo:   leave(s.ID, in.Network),
	}))
}

func setMember(id, network int64, f func(*attachment)) effect {
	return func(st *state, _ time.Time) {
		st.servers.change(id, func(s *server) { s.Nets = s.netsWith(network, f) })
	}
}

func leave(id, network int64) effect {
	return func(st *state, _ time.Time) {
		st.servers.change(id, func(s *server) { s.Nets = s.netsWithout(network) })
	}
}

// attached finds the interface of a server that a request is about.
func (c *call) attached(s *server, network int64) error {
	if c.st.networks.get(network) == nil {
		return notFound(kindNetwork, network)
	}
	if s.in(network) == nil {
		return fail("invalid_input", "server is not attached to network %d", network)
	}
	return c.lock(s.ref())
}

func detachServer(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Network int64 `json:"network"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.attached(s, in.Network); err != nil {
		return reply{}, err
	}
	if err := c.st.freeOfBalancers(s, in.Network); err != nil {
		return reply{}, err
	}
	c.st.servers.change(s.ID, func(s *server) {
		s.Nets = s.netsWith(in.Network, func(a *attachment) { a.status = memberDetaching })
	})
	return c.acted(c.begin(job{
		command: "detach_from_network", on: []ref{s.ref(), {in.Network, kindNetwork}},
		finish: leave(s.ID, in.Network),
		undo:   setMember(s.ID, in.Network, func(a *attachment) { a.status = memberOK }),
	}))
}

func changeAliases(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Network int64    `json:"network"`
		Alias   []string `json:"alias_ips"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.attached(s, in.Network); err != nil {
		return reply{}, err
	}
	n := c.st.networks.get(in.Network)
	if err := c.st.checkAliases(n, s, netip.MustParseAddr(s.in(in.Network).IP), in.Alias); err != nil {
		return reply{}, err
	}
	c.st.servers.change(s.ID, func(s *server) {
		s.Nets = s.netsWith(in.Network, func(a *attachment) { a.status = memberUpdating })
	})
	return c.acted(c.begin(job{
		command: "change_alias_ips", on: []ref{s.ref(), {in.Network, kindNetwork}},
		finish: setMember(s.ID, in.Network, func(a *attachment) { a.Alias, a.status = in.Alias, memberOK }),
		undo:   setMember(s.ID, in.Network, func(a *attachment) { a.status = memberOK }),
	}))
}
