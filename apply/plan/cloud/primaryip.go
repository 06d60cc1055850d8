package cloud

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// PrimaryIPName is the name of a primary IP that apply makes, or keeps, for a server.
// ipType is ipv4 or ipv6.
func PrimaryIPName(server, ipType string) string { return server + "-" + ipType }

// primaryIPs plans public addresses that do not only come and go with their server.
type primaryIPs struct{ *planner }

// compare plans the addresses that servers keep when they are made anew, and deletes
// what is left of a change of public addresses that was interrupted. Other addresses that
// belong to servers go with them.
func (p *primaryIPs) compare() {
	for _, s := range p.desired.Servers {
		var have Server // without addresses, if it is not there
		if i := slices.IndexFunc(p.observed.Servers, func(o Server) bool { return o.Name == s.Name }); i >= 0 {
			have = p.observed.Servers[i]
		}
		for _, a := range []struct {
			ipType string
			want   bool
			have   PublicIP
		}{{ipv4, s.PublicIPv4, have.PublicIPv4}, {ipv6, s.PublicIPv6, have.PublicIPv6}} {
			switch {
			case a.want && s.KeepPrimaryIPs:
				p.keep(s, have, a.ipType, a.have.ID)
			case a.want && a.have.IP == "":
				p.awaited(s.Name, a.ipType)
			}
		}
	}
	stale(p.planner, KindPrimaryIP, p.observed.PrimaryIPs, p.unwanted)
}

// awaited keeps the address that a server is about to get.
func (p *primaryIPs) awaited(server, ipType string) {
	name := PrimaryIPName(server, ipType)
	for _, ip := range p.observed.PrimaryIPs {
		if ip.Name == name && ip.Type == ipType && p.owner.owns(ip.Labels) {
			p.use(KindPrimaryIP, name, ip.ID)
		}
	}
}

// keep plans an address that outlives its server. The server is made with it, or makes
// it: then it is given its name, and no more goes with the server. current is the id of
// the one that the server has.
func (p *primaryIPs) keep(want schemas.InfraServer, have Server, ipType string, current int64) {
	name := PrimaryIPName(want.Name, ipType)
	key := KeyOf(KindPrimaryIP, name)
	kept, blocked := p.named(key, name, current)
	if blocked {
		return
	}
	if kept != nil && kept.ID != current && kept.Assignee != 0 {
		p.use(KindPrimaryIP, name, kept.ID)
		p.refusal(key, "it is assigned to "+string(p.observed.serverKey(kept.Assignee)), "take it from there in Hetzner's console, or rename it")
		return
	}
	lives := have.ID != 0 && have.Status != statusDeleting
	anew := slices.ContainsFunc(p.plan.Changes, func(c Change) bool { return c.Key == KeyOf(KindServer, want.Name) && c.Action == Replace })
	switch {
	case kept == nil && current == 0:
	case kept != nil && (anew || !lives) && !slices.Contains(want.Locations, kept.Location):
		p.lose(want, kept, fmt.Sprintf("the address %s stays in %s, and its server moves", kept.IP, kept.Location))
	case kept != nil && lives && current != 0 && kept.ID != current:
		p.lose(want, kept, fmt.Sprintf("the address %s is not the one of its server", kept.IP))
	case kept == nil || kept.ID == current:
		if !anew || slices.Contains(want.Locations, have.Location) {
			p.update(want, name, current)
		}
	default: // the server is about to get it
		p.update(want, name, kept.ID)
	}
}

// named is the address of a name, if there is one and the cluster may have it; current
// belongs to its server anyway.
func (p *primaryIPs) named(key plan.Key, name string, current int64) (kept *PrimaryIP, blocked bool) {
	i := slices.IndexFunc(p.observed.PrimaryIPs, func(ip PrimaryIP) bool { return ip.Name == name })
	if i < 0 {
		return nil, false
	}
	kept = &p.observed.PrimaryIPs[i]
	if kept.ID == current {
		return kept, false
	}
	_, blocked = claim(p.planner, KindPrimaryIP, name, p.observed.PrimaryIPs)
	if !blocked {
		delete(p.used, KeyOf(KindPrimaryIP, idText(kept.ID))) // it is not said yet that it stays
	}
	return kept, blocked
}

// update compares an address that stays.
func (p *primaryIPs) update(want schemas.InfraServer, name string, id int64) {
	p.use(KindPrimaryIP, name, id)
	i := slices.IndexFunc(p.observed.PrimaryIPs, func(ip PrimaryIP) bool { return ip.ID == id })
	if i < 0 {
		p.warn(KeyOf(KindPrimaryIP, name), "the address was not there yet when primary IPs were read", "it is kept from the next run on")
		return
	}
	have := p.observed.PrimaryIPs[i]
	d := buildChange(KindPrimaryIP, name, id, Update)
	d.differ(FieldName, have.Name, name, "")
	d.labels(have.Labels, want.Labels)
	d.differ(FieldAutoDelete, onOff(have.AutoDelete), onOff(false), "")
	d.differ(FieldProtected, onOff(have.Protected), onOff(want.Protected), "")
	p.add(d)
}

// unwanted deletes an address that no server is to keep. One that a server has goes with
// it from now on.
func (p *primaryIPs) unwanted(ip *PrimaryIP) {
	name, named := strings.CutSuffix(ip.Name, "-"+ip.Type)
	kept := named && !ip.AutoDelete
	switch {
	case ip.Assignee == 0 && !kept:
		d := buildChange(KindPrimaryIP, ip.Name, ip.ID, Delete)
		d.LiftProtection, d.Reason = ip.Protected, "it was made for a server, and has none"
		p.add(d)
	case !kept:
	case ip.Assignee == 0 || p.goes(KindServer, ip.Assignee):
		p.lose(schemas.InfraServer{Name: name}, ip, fmt.Sprintf("the address %s was kept for a server that is no longer wanted", ip.IP))
	default:
		d := buildChange(KindPrimaryIP, ip.Name, ip.ID, Update)
		d.differ(FieldProtected, onOff(ip.Protected), onOff(false), "")
		d.differ(FieldAutoDelete, onOff(false), onOff(true), "its server does not keep it any more")
		p.add(d)
	}
}

// lose deletes an address that was kept, once no server has it. Consent for it is that to
// its own name, to delete its server, or to recreate the node.
func (p *primaryIPs) lose(server schemas.InfraServer, ip *PrimaryIP, why string) {
	p.use(KindPrimaryIP, ip.Name, ip.ID)
	d := buildChange(KindPrimaryIP, ip.Name, ip.ID, Delete)
	d.Destructive, d.LiftProtection, d.Reason = true, ip.Protected, why
	d.Consent = plan.ConsentDestroy
	d.Allowed = p.policy.Destroys(d.Key, d.Name) || p.policy.Destroys(KeyOf(KindServer, server.Name), server.Name) ||
		p.policy.Recreates(server.Name, server.Pool)
	if ip.Assignee != 0 {
		d.after(p.observed.serverKey(ip.Assignee))
	}
	p.add(d)
}

// keptIn is where a server has to be made to keep a volume or an address that it had; empty
// if it has none that it could keep.
func (p *servers) keptIn(want schemas.InfraServer) string {
	return cmp.Or(p.volumesIn(want), p.addressIn(want))
}

// addressIn is where the addresses are that a server keeps.
func (p *servers) addressIn(want schemas.InfraServer) string {
	if !want.KeepPrimaryIPs {
		return ""
	}
	for _, ip := range p.observed.PrimaryIPs {
		named := ip.Name == PrimaryIPName(want.Name, ipv4) || ip.Name == PrimaryIPName(want.Name, ipv6)
		ours := p.owner.owns(ip.Labels) || plan.Named(p.policy.Adopt, KeyOf(KindPrimaryIP, ip.Name), ip.Name)
		if named && ours && slices.Contains(want.Locations, ip.Location) {
			return ip.Location
		}
	}
	return ""
}
