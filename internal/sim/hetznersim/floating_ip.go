package hetznersim

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// floatingIP is a public address that can move from server to server.
type floatingIP struct {
	common
	publicIP
	Description *string
	Home        string // the name of a location
	Server      int64  // 0 while it is not assigned
}

const kindFloatingIP = "floating_ip"

func (f *floatingIP) ref() ref { return ref{f.ID, kindFloatingIP} }

type floatingIPView struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Description *string           `json:"description"`
	IP          string            `json:"ip"`
	Type        string            `json:"type"`
	Server      *int64            `json:"server"`
	DNSPtr      []dnsPtr          `json:"dns_ptr"`
	Home        *location         `json:"home_location"`
	Blocked     bool              `json:"blocked"`
	Protection  protection        `json:"protection"`
	Labels      map[string]string `json:"labels"`
	Created     time.Time         `json:"created"`
}

func (st *state) viewFloating(f *floatingIP) floatingIPView {
	v := floatingIPView{ID: f.ID, Name: f.Name, Description: f.Description, IP: f.IP, Type: f.Type,
		DNSPtr: some(f.Pointers), Home: st.cat.location(f.Home), Protection: protection{f.Protected},
		Labels: filled(f.Labels), Created: f.Created}
	if f.Server != 0 {
		v.Server = &f.Server
	}
	return v
}

// floatingOf are the floating IPs of a server.
func (st *state) floatingOf(server int64) []int64 {
	ids := []int64{}
	for _, f := range st.floatingIPs.rows {
		if f.Server == server {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// releaseFloating unassigns the floating IPs of a server that is deleted.
func (st *state) releaseFloating(server int64) {
	for _, id := range st.floatingOf(server) {
		st.floatingIPs.change(id, func(f *floatingIP) { f.Server = 0 })
	}
}

func floatingIPRoutes() []route {
	const one = "/floating_ips/{id}"
	return []route{
		{http.MethodGet, "/floating_ips", listFloating},
		{http.MethodPost, "/floating_ips", createFloating},
		{http.MethodGet, one, onFloating(func(c *call, f *floatingIP) (reply, error) { return c.floating(f) })},
		{http.MethodPut, one, onFloating(updateFloating)},
		{http.MethodDelete, one, onFloating(deleteFloating)},
		{http.MethodPost, one + "/actions/assign", onFloating(assignFloating)},
		{http.MethodPost, one + "/actions/unassign", onFloating(unassignFloating)},
		{http.MethodPost, one + "/actions/change_dns_ptr", onFloating(pointFloating)},
		{http.MethodPost, one + "/actions/change_protection", onFloating(protectFloating)},
	}
}

func onFloating(do func(*call, *floatingIP) (reply, error)) handler {
	return on(kindFloatingIP, func(st *state) *table[floatingIP, *floatingIP] { return &st.floatingIPs }, do)
}

func (c *call) floating(f *floatingIP) (reply, error) {
	return ok(obj{kindFloatingIP: c.st.viewFloating(f)})
}

func listFloating(c *call) (reply, error) {
	return rowsOf("floating_ips", &c.st.floatingIPs, func(f *floatingIP) any { return c.st.viewFloating(f) }).answer(c)
}

func createFloating(c *call) (reply, error) {
	in, err := decode[struct {
		Type        string            `json:"type"`
		Name        string            `json:"name"`
		Description *string           `json:"description"`
		Server      int64             `json:"server"`
		Home        idOrName          `json:"home_location"`
		Labels      map[string]string `json:"labels"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	f := &floatingIP{common: c.fresh(in.Name, in.Labels), Description: in.Description}
	f.Name = cmp.Or(f.Name, fmt.Sprintf("floating-ip-%d", f.ID))
	var v invalid
	v.check(in.Type == "ipv4" || in.Type == "ipv6", "type", "Must be one of: ipv4, ipv6.")
	v.check(in.Home != "" || in.Server != 0, "home_location", missing)
	if err := named(&v, kindFloatingIP, &c.st.floatingIPs, f.Name, in.Labels); err != nil {
		return reply{}, err
	}
	if err := c.within(c.cfg.Limits.FloatingIPs, len(c.st.floatingIPs.rows), kindFloatingIP); err != nil {
		return reply{}, err
	}
	f.publicIP = c.st.newPublicIP(in.Type)
	beside := in.Server
	if in.Home != "" {
		beside = 0
	}
	if f.Home, err = c.besides(beside, in.Home); err != nil {
		return reply{}, err
	}
	c.st.floatingIPs.put(f)
	answer := obj{}
	s := c.st.servers.get(in.Server)
	if s == nil && in.Server != 0 {
		return reply{}, notFound(kindServer, in.Server)
	}
	if s != nil {
		answer["action"] = c.moveFloating(f, s).view(c.now)
	}
	answer[kindFloatingIP] = c.st.viewFloating(c.st.floatingIPs.get(f.ID))
	return created(answer)
}

func updateFloating(c *call, f *floatingIP) (reply, error) {
	in, err := decode[struct {
		update
		Description *string `json:"description"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if f, err = apply(in.update, kindFloatingIP, &c.st.floatingIPs, f); err != nil {
		return reply{}, err
	}
	if in.Description != nil {
		f = c.st.floatingIPs.change(f.ID, func(f *floatingIP) { f.Description = in.Description })
	}
	return c.floating(f)
}

func deleteFloating(c *call, f *floatingIP) (reply, error) {
	switch {
	case f.Protected:
		return reply{}, isProtected(kindFloatingIP)
	case f.Server != 0:
		return reply{}, fail("must_be_unassigned", "the Floating IP must be unassigned to be deleted")
	}
	if err := c.lock(f.ref()); err != nil {
		return reply{}, err
	}
	c.st.floatingIPs.drop(f.ID)
	return noContent()
}

// moveFloating begins to assign a floating IP to a server, whoever had it.
func (c *call) moveFloating(f *floatingIP, s *server) *action {
	return c.begin(job{command: "assign_floating_ip", on: []ref{f.ref(), s.ref()}, finish: func(st *state, _ time.Time) {
		if st.servers.get(s.ID) != nil {
			st.floatingIPs.change(f.ID, func(f *floatingIP) { f.Server = s.ID })
		}
	}})
}

func assignFloating(c *call, f *floatingIP) (reply, error) {
	in, err := decode[struct {
		Server int64 `json:"server"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(f.ref()); err != nil {
		return reply{}, err
	}
	s := c.st.servers.get(in.Server)
	if s == nil {
		return reply{}, notFound(kindServer, in.Server)
	}
	return c.acted(c.moveFloating(f, s))
}

func unassignFloating(c *call, f *floatingIP) (reply, error) {
	if err := c.lock(f.ref()); err != nil {
		return reply{}, err
	}
	return c.acted(c.begin(job{command: "unassign_floating_ip", on: []ref{f.ref()}, finish: func(st *state, _ time.Time) {
		st.floatingIPs.change(f.ID, func(f *floatingIP) { f.Server = 0 })
	}}))
}

func pointFloating(c *call, f *floatingIP) (reply, error) {
	pointers, err := f.pointTo(c)
	if err != nil {
		return reply{}, err
	}
	c.st.floatingIPs.change(f.ID, func(f *floatingIP) { f.Pointers = pointers })
	return c.acted(c.done("change_dns_ptr", f.ref()))
}

func protectFloating(c *call, f *floatingIP) (reply, error) {
	protect, err := wantedProtection(c)
	if err != nil {
		return reply{}, err
	}
	c.st.floatingIPs.change(f.ID, func(f *floatingIP) { f.Protected = protect })
	return c.acted(c.done("change_protection", f.ref()))
}
