package cloud

import (
	"slices"

	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// serverFirewalls wants every firewall that applies to the labels of a server
// at the server, unless it has no public address to filter. Firewalls by
// selector come with delay: until then the server would be open.
func (p *servers) serverFirewalls(d *changeBuilder, want schemas.InfraServer, have *Server) {
	p.needlessFirewalls(d, want, have)
	if have.PublicIPv4.IP == "" && have.PublicIPv6.IP == "" {
		return
	}
	for _, f := range p.firewallsOf(want.Labels) {
		name := firewallName(f)
		id := p.ids[KeyOf(KindFirewall, name)]
		if id != 0 && slices.ContainsFunc(have.Firewalls, func(a AppliedFirewall) bool { return a.ID == id }) {
			continue
		}
		d.needs(KeyOf(KindFirewall, name))
		d.field(Field{Name: FieldFirewalls, Item: name, to: "applied", Class: InPlace, Reason: "the server is open without it"})
	}
}

// needlessFirewalls removes firewalls from a server that they do not apply to any
// more: they came with its creation, and no selector takes them away.
func (p *servers) needlessFirewalls(d *changeBuilder, want schemas.InfraServer, have *Server) {
	apply := p.firewallsOf(want.Labels)
	for _, f := range p.desired.Firewalls {
		name := firewallName(f)
		id := p.ids[KeyOf(KindFirewall, name)]
		applied := slices.ContainsFunc(p.observed.Firewalls, func(o Firewall) bool { return o.ID == id && slices.Contains(o.Servers, have.ID) })
		wanted := slices.ContainsFunc(apply, func(a schemas.InfraFirewall) bool { return firewallName(a) == name })
		if id != 0 && applied && !wanted {
			d.field(Field{Name: FieldFirewalls, Item: name, from: "applied", Class: InPlace, Reason: "it is not for servers with these labels"})
		}
	}
}

// firewallsOf are the names of the desired firewalls that apply to labels.
func (p *servers) firewallsOf(labels map[string]string) []schemas.InfraFirewall {
	var list []schemas.InfraFirewall
	for _, f := range p.desired.Firewalls {
		s, err := labelselector.Parse(f.ApplyTo)
		switch {
		case err != nil:
			p.refusal(KeyOf(KindFirewall, firewallName(f)), err.Error(), "correct applyTo in infrastructure.yaml: render again")
		case f.ApplyTo != "" && s.Matches(labels):
			list = append(list, f)
		}
	}
	return list
}
