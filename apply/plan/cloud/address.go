package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// floatingIPs plans floating IPs.
type floatingIPs struct{ *planner }

// Types of addresses, as Hetzner calls them.
const (
	ipv4 = "ipv4"
	ipv6 = "ipv6"
)

// compare compares floating IPs. Which server has one is not compared:
// they move.
func (p *floatingIPs) compare() {
	for _, want := range p.desired.FloatingIPs {
		if want.ExistingID != 0 {
			p.foreignFloatingIP(want)
			continue
		}
		have, blocked := claim(p.planner, KindFloatingIP, want.Name, p.observed.FloatingIPs)
		switch {
		case blocked:
		case have == nil:
			p.createFloatingIP(want)
		default:
			p.updateFloatingIP(want, have)
		}
	}
	stale(p.planner, KindFloatingIP, p.observed.FloatingIPs, func(f *FloatingIP) {
		d := buildChange(KindFloatingIP, f.Name, f.ID, Delete)
		d.Destructive, d.LiftProtection, d.Reason = true, f.Protected, unwanted
		if f.Server != 0 {
			d.after(p.observed.serverKey(f.Server))
		}
		p.add(d)
	})
}

func (p *floatingIPs) createFloatingIP(want schemas.InfraFloatingIP) {
	d := buildChange(KindFloatingIP, want.Name, 0, Create)
	d.Reason = missing
	d.show(FieldType, want.Type)
	d.show(FieldLocation, want.Location)
	d.showReverse(want.ReverseDNS)
	p.add(d)
}

// updateFloatingIP replaces an address if its type or location must change: it
// is another address then.
func (p *floatingIPs) updateFloatingIP(want schemas.InfraFloatingIP, have *FloatingIP) {
	d := buildChange(KindFloatingIP, want.Name, have.ID, Update)
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
	p.add(d)
}

func (p *floatingIPs) foreignFloatingIP(want schemas.InfraFloatingIP) {
	key := KeyOf(KindFloatingIP, floatingName(want))
	i := slices.IndexFunc(p.observed.FloatingIPs, func(f FloatingIP) bool { return f.ID == want.ExistingID })
	if i < 0 {
		p.refusal(key, "there is no such floating IP in the project", "correct the id in cluster.yaml")
		return
	}
	have := p.observed.FloatingIPs[i]
	p.use(KindFloatingIP, floatingName(want), have.ID)
	if have.Type != want.Type {
		p.refusal(key, fmt.Sprintf("its type is %s, not %s", have.Type, want.Type), "choose another floating IP in cluster.yaml")
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

// primaryIPs plans public addresses that were made apart from their server.
type primaryIPs struct{ *planner }

// compare deletes what is left of a change of public addresses that was
// interrupted. Addresses that belong to servers go with them.
func (p *primaryIPs) compare() {
	for _, s := range p.desired.Servers {
		var have Server // without addresses, if it is not there
		if i := slices.IndexFunc(p.observed.Servers, func(o Server) bool { return o.Name == s.Name }); i >= 0 {
			have = p.observed.Servers[i]
		}
		p.keepPrimaryIP(s.Name, ipv4, s.PublicIPv4 && have.PublicIPv4.IP == "")
		p.keepPrimaryIP(s.Name, ipv6, s.PublicIPv6 && have.PublicIPv6.IP == "")
	}
	stale(p.planner, KindPrimaryIP, p.observed.PrimaryIPs, func(ip *PrimaryIP) {
		if ip.Assignee != 0 {
			return
		}
		d := buildChange(KindPrimaryIP, ip.Name, ip.ID, Delete)
		d.LiftProtection, d.Reason = ip.Protected, "it was made for a server, and has none"
		p.add(d)
	})
}

// keepPrimaryIP keeps the address that a server is about to get.
func (p *primaryIPs) keepPrimaryIP(server, ipType string, wanted bool) {
	name := PrimaryIPName(server, ipType)
	for _, ip := range p.observed.PrimaryIPs {
		if wanted && ip.Name == name && ip.Type == ipType && p.owner.owns(ip.Labels) {
			p.use(KindPrimaryIP, name, ip.ID)
		}
	}
}
