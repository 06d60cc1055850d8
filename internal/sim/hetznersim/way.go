package hetznersim

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Origin is who opens a connection.
type Origin struct {
	// Address is the source address. The zero one stands for a caller whom the
	// rules of firewalls name: it comes through wherever a rule opens the port to
	// any address. The programs that share this machine with a simulator have no
	// address on the internet, and connect as this caller.
	Address netip.Addr
	// Private says that the caller is in the private networks of the project.
	Private bool
}

// Why a connection does not end at a server.
var (
	// ErrNotInProject is for an address that nothing in the project has.
	ErrNotInProject = errors.New("no server or load balancer of the project has this address")
	// ErrDropped is for what a firewall drops, and for an interface that is off: no
	// answer comes.
	ErrDropped = errors.New("a firewall drops this, or the public interface is disabled")
	// ErrNoService is for a port on which a load balancer does not listen.
	ErrNoService = errors.New("the load balancer has no service on this port")
)

// Way returns where a TCP connection to an address ends: at the server that has
// it, or at one of the targets of the load balancer that has it, which may be
// tried in turn. Whether something listens there, and so whether the health
// check of a target succeeds, is not known here. Firewalls filter what comes to
// public addresses: of several that are applied to a server one has to let it in.
// The networks of a project count as one.
func (s *Sim) Way(from Origin, to netip.AddrPort) ([]netip.AddrPort, error) {
	s.mu.Lock()
	s.state.settle(s.cfg.Clock.Now())
	ends, err := s.state.way(from, to)
	s.mu.Unlock()
	s.notify()
	return ends, err
}

func (st *state) way(from Origin, to netip.AddrPort) ([]netip.AddrPort, error) {
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	if from.Private {
		for _, s := range st.servers.rows {
			if slices.ContainsFunc(s.Nets, func(a attachment) bool { return a.has(to.Addr()) }) {
				return []netip.AddrPort{to}, nil
			}
		}
	}
	for _, b := range st.balancers.rows {
		switch {
		case from.Private && b.Net != nil && b.Net.has(to.Addr()):
			return st.balanced(b, to.Port())
		case st.ownsPublic(b.ref(), to.Addr()) && b.Private:
			return nil, ErrDropped
		case st.ownsPublic(b.ref(), to.Addr()):
			return st.balanced(b, to.Port())
		}
	}
	for _, s := range st.servers.rows {
		if !st.ownsPublic(s.ref(), to.Addr()) {
			continue
		}
		if !st.letsIn(s, from.Address, to.Port()) {
			return nil, ErrDropped
		}
		return []netip.AddrPort{to}, nil
	}
	return nil, ErrNotInProject
}

// has reports whether an address is that of an interface, or an alias.
func (a attachment) has(addr netip.Addr) bool {
	return a.IP == addr.String() || slices.Contains(a.Alias, addr.String())
}

// ownsPublic reports whether an address is a primary IP of a server or a load
// balancer, or a floating IP of a server.
func (st *state) ownsPublic(r ref, addr netip.Addr) bool {
	return slices.ContainsFunc(st.primaryIPs.rows, func(p *primaryIP) bool { return p.Of == r && p.has(addr) }) ||
		r.Type == kindServer && slices.ContainsFunc(st.floatingIPs.rows, func(f *floatingIP) bool { return f.Server == r.ID && f.has(addr) })
}

func (p publicIP) has(addr netip.Addr) bool {
	if network, err := netip.ParsePrefix(p.IP); err == nil {
		return network.Contains(addr)
	}
	return p.IP == addr.String()
}

// letsIn reports whether the firewalls of a server let a TCP connection from an
// address in to a port. Without a firewall everything comes in; a firewall
// without a rule lets nothing in.
func (st *state) letsIn(s *server, from netip.Addr, port uint16) bool {
	filtered := false
	for _, f := range st.firewalls.rows {
		if !f.filters(st, s) {
			continue
		}
		if slices.ContainsFunc(f.Rules, func(r rule) bool { return r.letsIn(from, port) }) {
			return true
		}
		filtered = true
	}
	return !filtered
}

// filters reports whether a firewall is at work at a server: a label selector
// needs its time to notice one.
func (f *firewall) filters(st *state, s *server) bool {
	return slices.Contains(f.Servers, s.ID) || f.covers(s) && !st.unnoticed(s)
}

func (r rule) letsIn(from netip.Addr, port uint16) bool {
	if r.Direction != "in" || r.Protocol != "tcp" || r.Port == nil || !inPorts(*r.Port, port) {
		return false
	}
	return !from.IsValid() || slices.ContainsFunc(r.Sources, func(text string) bool {
		source, err := netip.ParsePrefix(text)
		return err == nil && source.Contains(from.Unmap())
	})
}

// inPorts reports whether a port is among those of a rule, which were checked
// when it came in.
func inPorts(text string, port uint16) bool {
	if text == "any" {
		return true
	}
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	return err1 == nil && err2 == nil && from <= int(port) && int(port) <= to
}

// balanced is where a load balancer passes a connection to one of its ports on
// to: targets that run, at their private address where the target says so, or
// else at the public one, if their firewalls let the load balancer in.
func (st *state) balanced(b *balancer, port uint16) ([]netip.AddrPort, error) {
	i := slices.IndexFunc(b.Services, func(s service) bool { return s.Listen == int(port) })
	if i < 0 {
		return nil, ErrNoService
	}
	destination := uint16(b.Services[i].Destination)
	var ends []netip.AddrPort
	for _, t := range b.Targets {
		for _, addr := range st.targetAddresses(b, t, destination) {
			ends = append(ends, netip.AddrPortFrom(addr, destination))
		}
	}
	if len(ends) == 0 {
		return nil, ErrDropped
	}
	return ends, nil
}

func (st *state) targetAddresses(b *balancer, t lbTarget, port uint16) (all []netip.Addr) {
	if t.Type == "ip" {
		if addr, err := netip.ParseAddr(t.IP.IP); err == nil {
			all = append(all, addr)
		}
		return all
	}
	ids := []int64{}
	if t.Server != nil {
		ids = append(ids, t.Server.ID)
	} else {
		ids = st.selected(t.Selector.Selector)
	}
	for _, id := range ids {
		if addr, reached := st.targetAddress(b, st.servers.get(id), t.UsePrivateIP, port); reached {
			all = append(all, addr)
		}
	}
	return all
}

// targetAddress is the address at which a load balancer reaches a server, if it
// does.
func (st *state) targetAddress(b *balancer, s *server, private bool, port uint16) (addr netip.Addr, reached bool) {
	if s == nil || s.Status != serverOn {
		return addr, false
	}
	var text string
	switch {
	case private && b.Net != nil && s.in(b.Net.Network) != nil:
		text = s.in(b.Net.Network).IP
	case !private && !b.Private && st.primaryIPs.get(s.IPv4) != nil && st.primaryIPs.get(b.IPv4) != nil:
		text = st.primaryIPs.get(s.IPv4).IP
		if own, err := netip.ParseAddr(st.primaryIPs.get(b.IPv4).IP); err != nil || !st.letsIn(s, own, port) {
			return addr, false
		}
	}
	addr, err := netip.ParseAddr(text)
	return addr, err == nil
}
