package hetznersim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/talosgen/talosgen/internal/labelselector"
)

// lbTarget is what a load balancer sends to.
type lbTarget struct {
	target
	IP *struct {
		IP string `json:"ip"`
	} `json:"ip"`
	UsePrivateIP bool `json:"use_private_ip"`

	since time.Time // when it was added
}

// same reports whether two targets are the same one, whatever their options.
func (t lbTarget) same(o lbTarget) bool {
	switch {
	case t.Type != o.Type:
		return false
	case t.Type == kindServer:
		return t.Server.ID == o.Server.ID
	case t.Type == "label_selector":
		return t.Selector.Selector == o.Selector.Selector
	}
	return t.IP.IP == o.IP.IP
}

// private reports whether a target is reached through the network.
func (t lbTarget) private() bool {
	ip, is := t.address()
	return t.UsePrivateIP || is && ip.IsPrivate()
}

// within reports whether a target is an address in a range.
func (t lbTarget) within(r netip.Prefix) bool {
	ip, is := t.address()
	return is && r.Contains(ip)
}

// address is that of a target which is one.
func (t lbTarget) address() (ip netip.Addr, is bool) {
	if t.IP == nil {
		return ip, false
	}
	ip, err := netip.ParseAddr(t.IP.IP)
	return ip, err == nil
}

func (t lbTarget) validate() error {
	var v invalid
	switch t.Type {
	case kindServer, "label_selector":
		t.check(&v, "target")
	case "ip":
		v.check(t.IP != nil && t.IP.IP != "", "target.ip", missing)
	default:
		v.add("type", "Must be one of: server, label_selector, ip.")
	}
	return v.err()
}

func (st *state) viewTarget(b *balancer, t lbTarget, now time.Time) obj {
	switch t.Type {
	case kindServer:
		return st.viewServerTarget(b, t.Server.ID, t, now)
	case "label_selector":
		nested := []obj{}
		for _, id := range st.selected(t.Selector.Selector) {
			nested = append(nested, st.viewServerTarget(b, id, t, now))
		}
		return obj{"type": t.Type, t.Type: obj{"selector": t.Selector.Selector}, "targets": nested, "use_private_ip": t.UsePrivateIP}
	}
	return obj{"type": t.Type, t.Type: obj{"ip": t.IP.IP}, "health_status": b.health(t, true, now)}
}

func (st *state) viewServerTarget(b *balancer, id int64, t lbTarget, now time.Time) obj {
	s := st.servers.get(id)
	return obj{"type": kindServer, kindServer: obj{"id": id}, "use_private_ip": t.UsePrivateIP,
		"health_status": b.health(t, s != nil && s.Status == serverOn, now)}
}

type healthStatus struct {
	Listen int    `json:"listen_port"`
	Status string `json:"status"`
}

// health is the state of a target for each service: unknown until the checks
// have had their time, then that of the machine.
func (b *balancer) health(t lbTarget, on bool, now time.Time) []healthStatus {
	all := []healthStatus{}
	for _, s := range b.Services {
		status := "unknown"
		if since := now.Sub(t.since); since >= time.Duration(s.Check.Interval)*time.Second {
			status = "unhealthy"
			if on {
				status = "healthy"
			}
		}
		all = append(all, healthStatus{s.Listen, status})
	}
	return all
}

// putTarget adds a target to a load balancer that can reach it.
func (c *call) putTarget(id int64, t lbTarget) error {
	if err := t.validate(); err != nil {
		return err
	}
	b := c.st.balancers.get(id)
	if slices.ContainsFunc(b.Targets, t.same) {
		return fail("target_already_defined", "target is already defined")
	}
	if len(b.Targets) >= c.st.cat.lbType(idOrName(b.Type)).Targets {
		return overLimit("targets limit exceeded", "load_balancer_targets_limit")
	}
	if err := c.reachable(b, t); err != nil {
		return err
	}
	t.since = c.now
	c.st.balancers.change(id, func(b *balancer) { b.Targets = with(b.Targets, t) })
	return nil
}

// reachable refuses a target that a load balancer cannot reach.
func (c *call) reachable(b *balancer, t lbTarget) error {
	switch {
	case t.Type == "ip":
		return c.ownedIP(b, t.IP.IP)
	case t.UsePrivateIP && b.Net == nil:
		return fail("load_balancer_not_attached_to_network", "load balancer is not attached to a network")
	case !t.UsePrivateIP && b.Private:
		return fail("load_balancer_public_interface_disabled", "load balancer public interface is disabled, cannot add target using public IP")
	case t.Type == "label_selector":
		return nil
	}
	s := c.st.servers.get(t.Server.ID)
	switch {
	case s == nil:
		return notFound(kindServer, t.Server.ID)
	case t.UsePrivateIP && s.in(b.Net.Network) == nil:
		return fail("resolve_cloud_private_targets_error", "server %d is not attached to the network of the load balancer", s.ID)
	case !t.UsePrivateIP && s.IPv4 == 0:
		return fail("resolve_cloud_public_targets_error", "server %d has no public IPv4 address", s.ID)
	}
	return nil
}

// ownedIP refuses an address that is not one of the owner's dedicated servers,
// or not one of a subnet with a vSwitch.
func (c *call) ownedIP(b *balancer, ip string) error {
	if at, err := netip.ParseAddr(ip); err == nil && at.IsPrivate() {
		return c.behindVSwitch(b, at)
	}
	if find(c.st.primaryIPs.rows, func(p *primaryIP) bool { return p.IP == ip }) != nil {
		return fail("cloud_resource_ip_not_allowed", "IP %s belongs to a Hetzner Cloud resource", ip)
	}
	if !slices.Contains(c.cfg.DedicatedIPs, ip) {
		return fail("ip_not_owned", "IP %s is not owned by the project's owner", ip)
	}
	return nil
}

// behindVSwitch refuses a private address that the network of a load balancer
// does not lead to.
func (c *call) behindVSwitch(b *balancer, ip netip.Addr) error {
	if b.Net == nil {
		return fail("load_balancer_not_attached_to_network", "load balancer is not attached to a network")
	}
	coupled := keep(c.st.networks.get(b.Net.Network).Subnets, func(s subnet) bool { return s.Type == "vswitch" })
	switch {
	case len(coupled) == 0:
		return fail("network_has_no_vswitch_subnet", "network has no vswitch subnet")
	case !slices.ContainsFunc(coupled, func(s subnet) bool { return s.Range.Contains(ip) }):
		return fail("ip_not_in_vswitch_subnet", "IP %s is not in the vswitch subnet of the network", ip)
	}
	return nil
}

func addTarget(c *call, b *balancer) (reply, error) {
	in, err := decode[lbTarget](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.putTarget(b.ID, in); err != nil {
		return reply{}, err
	}
	// It was put there to be checked; it is there when the action ends.
	after := c.st.balancers.get(b.ID).Targets
	c.st.balancers.put(b)
	return c.changeBalancer("add_target", b, func(b *balancer) { b.Targets = after })
}

func removeTarget(c *call, b *balancer) (reply, error) {
	in, err := decode[lbTarget](c)
	if err != nil {
		return reply{}, err
	}
	if err := in.validate(); err != nil {
		return reply{}, err
	}
	if !slices.ContainsFunc(b.Targets, in.same) {
		return reply{}, fail("not_found", "target not found")
	}
	return c.changeBalancer("remove_target", b, func(b *balancer) {
		b.Targets = keep(b.Targets, func(t lbTarget) bool { return !t.same(in) })
	})
}

// sendsTo reports whether a load balancer has a server as its target.
func (b *balancer) sendsTo(s *server, fits func(lbTarget) bool) bool {
	return slices.ContainsFunc(b.Targets, func(t lbTarget) bool {
		if !fits(t) {
			return false
		}
		if t.Type == "label_selector" {
			sel, err := labelselector.Parse(t.Selector.Selector)
			return err == nil && sel.Matches(s.Labels)
		}
		return t.Type == kindServer && t.Server.ID == s.ID
	})
}

// balancersOf are the load balancers that have a server as their target.
func (st *state) balancersOf(s *server) []int64 {
	ids := []int64{}
	for _, b := range st.balancers.rows {
		if b.sendsTo(s, func(lbTarget) bool { return true }) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// publicTarget reports whether a load balancer sends to the public address of a
// server.
func (st *state) publicTarget(s *server) bool {
	return slices.ContainsFunc(st.balancers.rows, func(b *balancer) bool {
		return b.sendsTo(s, func(t lbTarget) bool { return !t.UsePrivateIP && t.Type == kindServer })
	})
}

// leaveBalancers forgets a server that is deleted.
func (st *state) leaveBalancers(server int64) {
	for _, b := range slices.Clone(st.balancers.rows) {
		st.balancers.change(b.ID, func(b *balancer) {
			b.Targets = keep(b.Targets, func(t lbTarget) bool { return t.Type != kindServer || t.Server.ID != server })
		})
	}
}

// freeOfBalancers refuses to detach a server from a network through which a load
// balancer sends to it.
func (st *state) freeOfBalancers(s *server, network int64) error {
	for _, b := range st.balancers.rows {
		private := func(t lbTarget) bool { return t.UsePrivateIP && t.Type == kindServer }
		if b.Net != nil && b.Net.Network == network && b.sendsTo(s, private) {
			return fail("service_error", "server is a target of load balancer %d in this network", b.ID)
		}
	}
	return nil
}
