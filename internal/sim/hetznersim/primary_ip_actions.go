package hetznersim

import (
	"slices"
	"time"
)

func listPrimaries(c *call) (reply, error) {
	l := rowsOf("primary_ips", &c.st.primaryIPs, func(p *primaryIP) any { return c.st.viewPrimary(p) })
	if ip := c.query.Get("ip"); ip != "" {
		l = l.only(func(p *primaryIP) bool { return p.IP == ip })
	}
	if types := c.query["type"]; len(types) > 0 {
		l = l.only(func(p *primaryIP) bool { return slices.Contains(types, p.Type) })
	}
	return l.answer(c)
}

func createPrimary(c *call) (reply, error) {
	in, err := decode[struct {
		Name       string            `json:"name"`
		Type       string            `json:"type"`
		Location   idOrName          `json:"location"`
		Assignee   int64             `json:"assignee_id"`
		AutoDelete bool              `json:"auto_delete"`
		Labels     map[string]string `json:"labels"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	v.check(in.Type == "ipv4" || in.Type == "ipv6", "type", "Must be one of: ipv4, ipv6.")
	v.check(in.Location != "" || in.Assignee != 0, "location", missing)
	if err := named(&v, kindPrimaryIP, &c.st.primaryIPs, in.Name, in.Labels); err != nil {
		return reply{}, err
	}
	if err := c.within(c.cfg.Limits.PrimaryIPs, len(c.st.primaryIPs.rows), "Primary_IP"); err != nil {
		return reply{}, err
	}
	p := &primaryIP{common: c.fresh(in.Name, in.Labels), publicIP: c.st.newPublicIP(in.Type), AutoDelete: in.AutoDelete}
	if p.Location, err = c.besides(in.Assignee, in.Location); err != nil {
		return reply{}, err
	}
	c.st.primaryIPs.put(p)
	if in.Assignee == 0 {
		return created(obj{kindPrimaryIP: c.st.viewPrimary(p)})
	}
	a, err := c.assign(p, c.st.servers.get(in.Assignee))
	if err != nil {
		return reply{}, err
	}
	return created(obj{kindPrimaryIP: c.st.viewPrimary(c.st.primaryIPs.get(p.ID)), "action": a.view(c.now)})
}

func updatePrimary(c *call, p *primaryIP) (reply, error) {
	in, err := decode[struct {
		update
		AutoDelete *bool `json:"auto_delete"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if p, err = apply(in.update, kindPrimaryIP, &c.st.primaryIPs, p); err != nil {
		return reply{}, err
	}
	if in.AutoDelete != nil {
		p = c.st.primaryIPs.change(p.ID, func(p *primaryIP) { p.AutoDelete = *in.AutoDelete })
	}
	return ok(obj{kindPrimaryIP: c.st.viewPrimary(p)})
}

func deletePrimary(c *call, p *primaryIP) (reply, error) {
	switch {
	case p.Protected:
		return reply{}, isProtected(kindPrimaryIP)
	case p.Of.ID != 0:
		return reply{}, fail("must_be_unassigned", "the Primary IP must be unassigned to be deleted")
	}
	if err := c.lock(p.ref()); err != nil {
		return reply{}, err
	}
	c.st.primaryIPs.drop(p.ID)
	return noContent()
}

// assign checks that a server, which must be off, can get a primary IP.
func (c *call) assign(p *primaryIP, s *server) (*action, error) {
	if err := c.lock(s.ref()); err != nil {
		return nil, err
	}
	switch {
	case s.Status != off:
		return nil, fail("server_not_stopped", "server must be stopped")
	case p.Of.ID != 0:
		return nil, fail("primary_ip_already_assigned", "Primary IP is already assigned to a different server")
	case p.Type == "ipv4" && s.IPv4 != 0:
		return nil, fail("server_has_ipv4", "server already has an IPv4 address")
	case p.Type == "ipv6" && s.IPv6 != 0:
		return nil, fail("server_has_ipv6", "server already has an IPv6 address")
	}
	if _, err := c.primaryFor(s.ref(), s.Location, p.Type, p.ID); err != nil {
		return nil, err
	}
	c.st.servers.change(s.ID, func(s *server) { s.setPrimary(p.Type, p.ID) })
	return c.begin(job{command: "assign_primary_ip", on: []ref{p.ref(), s.ref()}, undo: takePrimary(p.ID)}), nil
}

func takePrimary(id int64) effect {
	return func(st *state, _ time.Time) {
		st.primaryIPs.change(id, func(p *primaryIP) {
			st.servers.change(p.Of.ID, func(s *server) { s.setPrimary(p.Type, 0) })
			p.Of = ref{}
		})
	}
}

func assignPrimary(c *call, p *primaryIP) (reply, error) {
	in, err := decode[struct {
		Assignee int64 `json:"assignee_id"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(p.ref()); err != nil {
		return reply{}, err
	}
	s := c.st.servers.get(in.Assignee)
	if s == nil {
		return reply{}, notFound(kindServer, in.Assignee)
	}
	a, err := c.assign(p, s)
	if err != nil {
		return reply{}, err
	}
	return c.acted(a)
}

func unassignPrimary(c *call, p *primaryIP) (reply, error) {
	if err := c.lock(p.ref()); err != nil {
		return reply{}, err
	}
	s := c.st.servers.get(p.Of.ID)
	if s == nil && p.Of.ID != 0 {
		return reply{}, fail("service_error", "the Primary IP of a load balancer can not be unassigned")
	}
	if s == nil {
		return reply{}, fail("service_error", "Primary IP is not assigned")
	}
	if err := c.lock(s.ref()); err != nil {
		return reply{}, err
	}
	if s.Status != off {
		return reply{}, fail("server_not_stopped", "server must be stopped")
	}
	if p.Type == "ipv4" && c.st.publicTarget(s) {
		return reply{}, fail("server_is_load_balancer_target", "the server's IPv4 address is a load balancer target")
	}
	return c.acted(c.begin(job{command: "unassign_primary_ip", on: []ref{p.ref(), s.ref()}, finish: takePrimary(p.ID)}))
}

// pointPrimary changes the reverse DNS of a primary IP, for itself or for the
// server that has it.
func (c *call) pointPrimary(p *primaryIP, on ref) (reply, error) {
	pointers, err := p.pointTo(c)
	if err != nil {
		return reply{}, err
	}
	c.st.primaryIPs.change(p.ID, func(p *primaryIP) { p.Pointers = pointers })
	return c.acted(c.done("change_dns_ptr", on))
}

func protectPrimary(c *call, p *primaryIP) (reply, error) {
	protect, err := wantedProtection(c)
	if err != nil {
		return reply{}, err
	}
	if protect && p.AutoDelete {
		return reply{}, badField("delete", "Not possible with auto_delete.")
	}
	c.st.primaryIPs.change(p.ID, func(p *primaryIP) { p.Protected = protect })
	return c.acted(c.done("change_protection", p.ref()))
}
