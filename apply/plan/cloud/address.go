package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// Types of addresses, as Hetzner calls them.
const (
	ipv4 = "ipv4"
	ipv6 = "ipv6"
)

// floatingIPs compares floating IPs. Which server has one is not compared:
// they move.
func (m *maker) floatingIPs() {
	for _, want := range m.desired.FloatingIPs {
		if want.ExistingID != 0 {
			m.foreignFloatingIP(want)
			continue
		}
		have, blocked := claim(m, KindFloatingIP, want.Name, m.observed.FloatingIPs)
		switch {
		case blocked:
		case have == nil:
			m.createFloatingIP(want)
		default:
			m.updateFloatingIP(want, have)
		}
	}
	stale(m, KindFloatingIP, m.observed.FloatingIPs, func(f *FloatingIP) {
		d := m.draft(KindFloatingIP, f.Name, f.ID, Delete)
		d.Destructive, d.LiftProtection, d.Reason = true, f.Protected, unwanted
		if f.Server != 0 {
			d.after(m.serverKey(f.Server))
		}
		m.add(d)
	})
}

func (m *maker) createFloatingIP(want schemas.InfraFloatingIP) {
	d := m.draft(KindFloatingIP, want.Name, 0, Create)
	d.Reason = missing
	d.show(FieldType, want.Type)
	d.show(FieldLocation, want.Location)
	d.showReverse(want.ReverseDNS)
	m.add(d)
}

// updateFloatingIP replaces an address if its type or location must change: it
// is another address then.
func (m *maker) updateFloatingIP(want schemas.InfraFloatingIP, have *FloatingIP) {
	d := m.draft(KindFloatingIP, want.Name, have.ID, Update)
	for _, f := range []Field{
		{Name: FieldType, from: have.Type, to: want.Type},
		{Name: FieldLocation, from: have.Location, to: want.Location},
	} {
		if f.from != f.to {
			f.Class = Replacement
			d.field(f)
			d.Action, d.Destructive, d.LiftProtection = Replace, true, have.Protected
			d.Reason = fmt.Sprintf("the address %s is lost, another one takes its place", have.IP)
		}
	}
	if d.Action == Update {
		d.differ(FieldDescription, have.Description, want.Description, "")
		d.labels(have.Labels, want.Labels)
		d.reverse(have.Type, PublicIP{IP: have.IP, DNSPtr: have.DNSPtr}, want.ReverseDNS)
		d.differ(FieldProtected, onOff(have.Protected), onOff(want.Protected), "")
	}
	m.add(d)
}

func (m *maker) foreignFloatingIP(want schemas.InfraFloatingIP) {
	key := KeyOf(KindFloatingIP, floatingName(want))
	i := slices.IndexFunc(m.observed.FloatingIPs, func(f FloatingIP) bool { return f.ID == want.ExistingID })
	if i < 0 {
		m.refusal(key, "there is no such floating IP in the project", "correct the id in cluster.yaml")
		return
	}
	have := m.observed.FloatingIPs[i]
	m.use(KindFloatingIP, floatingName(want), have.ID)
	if have.Type != want.Type {
		m.refusal(key, fmt.Sprintf("its type is %s, not %s", have.Type, want.Type), "choose another floating IP in cluster.yaml")
	}
}

func floatingName(f schemas.InfraFloatingIP) string {
	if f.Name == "" {
		return idText(f.ExistingID)
	}
	return f.Name
}

// PrimaryIPName is the name of a primary IP that apply makes for a server that
// lives already. ipType is ipv4 or ipv6.
func PrimaryIPName(server, ipType string) string { return server + "-" + ipType }

// primaryIPs deletes what is left of a change of public addresses that was
// interrupted. Addresses that belong to servers go with them.
func (m *maker) primaryIPs() {
	for _, s := range m.desired.Servers {
		var have Server // without addresses, if it is not there
		if i := slices.IndexFunc(m.observed.Servers, func(o Server) bool { return o.Name == s.Name }); i >= 0 {
			have = m.observed.Servers[i]
		}
		m.keepPrimaryIP(s.Name, ipv4, s.PublicIPv4 && have.PublicIPv4.IP == "")
		m.keepPrimaryIP(s.Name, ipv6, s.PublicIPv6 && have.PublicIPv6.IP == "")
	}
	stale(m, KindPrimaryIP, m.observed.PrimaryIPs, func(p *PrimaryIP) {
		if p.Assignee != 0 {
			return
		}
		d := m.draft(KindPrimaryIP, p.Name, p.ID, Delete)
		d.LiftProtection, d.Reason = p.Protected, "it was made for a server, and has none"
		m.add(d)
	})
}

// keepPrimaryIP keeps the address that a server is about to get.
func (m *maker) keepPrimaryIP(server, ipType string, wanted bool) {
	name := PrimaryIPName(server, ipType)
	for _, p := range m.observed.PrimaryIPs {
		if wanted && p.Name == name && p.Type == ipType && m.owner.owns(p.Labels) {
			m.use(KindPrimaryIP, name, p.ID)
		}
	}
}
