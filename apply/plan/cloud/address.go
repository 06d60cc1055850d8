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
