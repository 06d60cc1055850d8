package cloud

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// subnets plans the subnets of the network.
type subnets struct{ *planner }

// compare compares the subnets that are desired. Nothing about a subnet can be
// changed; a new one takes its place if nothing is in it.
func (p *subnets) compare() {
	for _, s := range p.want.Subnets {
		have := p.subnet(s.IPRange)
		switch {
		case have == nil:
			p.createSubnet(s)
		case p.foreign():
			p.foreignSubnet(s, have)
		default:
			p.replaceSubnet(s, have)
		}
	}
}

func (p *subnets) createSubnet(want schemas.InfraSubnet) {
	d := buildChange(KindSubnet, want.IPRange, 0, Create)
	d.needs(p.networkKey())
	d.Reason = missing
	d.show("purpose", want.Purpose)
	d.show(FieldSubnetType, want.Type)
	d.show(FieldZone, want.NetworkZone)
	if want.VSwitchID != 0 {
		d.show(FieldVSwitch, idText(want.VSwitchID))
	}
	if p.net != nil {
		for _, other := range p.net.Subnets {
			if overlap(other.IPRange, want.IPRange) {
				p.overlapping(d, other)
			}
		}
	}
	p.add(d)
}

// overlapping lets a new subnet wait for the end of an old one in its place.
func (p *subnets) overlapping(d *changeBuilder, other Subnet) {
	wanted := slices.ContainsFunc(p.want.Subnets, func(s schemas.InfraSubnet) bool { return samePrefix(s.IPRange, other.IPRange) })
	if wanted || p.foreign() {
		p.refusal(d.Key, fmt.Sprintf("it overlaps the subnet %s of the network", other.IPRange), "choose a range that is free")
		return
	}
	d.after(KeyOf(KindSubnet, other.IPRange))
}

// foreignSubnet takes a subnet of a network that is not the cluster's own as it
// is.
func (p *subnets) foreignSubnet(want schemas.InfraSubnet, have *Subnet) {
	d := subnetDraft(want, have)
	if len(d.Fields) > 0 {
		p.warn(d.Key, "the network has this subnet already, but not as desired: "+fieldTexts(d.Fields), "nothing is changed about a network that is not the cluster's own")
	}
}

func subnetDraft(want schemas.InfraSubnet, have *Subnet) *changeBuilder {
	d := buildChange(KindSubnet, want.IPRange, 0, Update)
	if !(have.Type == "server" && want.Type == "cloud") { // the old name of the same thing
		d.differ(FieldSubnetType, have.Type, want.Type, "")
	}
	d.differ(FieldZone, have.NetworkZone, want.NetworkZone, "")
	if have.VSwitchID != want.VSwitchID {
		d.differ(FieldVSwitch, idOrNothing(have.VSwitchID), idOrNothing(want.VSwitchID), "")
	}
	return d
}

func idOrNothing(id int64) string {
	if id == 0 {
		return ""
	}
	return idText(id)
}

func fieldTexts(fields []Field) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = fmt.Sprintf("%s is %s, not %s", f.path(), orNone(f.from), orNone(f.to))
	}
	return strings.Join(texts, ", ")
}

func (p *subnets) replaceSubnet(want schemas.InfraSubnet, have *Subnet) {
	d := subnetDraft(want, have)
	if len(d.Fields) == 0 {
		return
	}
	d.Action, d.Reason = Replace, "nothing about a subnet can be changed"
	d.needs(p.networkKey())
	members := p.members(have.IPRange)
	for i, f := range d.Fields {
		f.Class = Replacement
		if len(members) > 0 {
			f.Class, f.Reason = Refused, "the subnet is in use by "+plan.Join(members)
			d.hints = append(d.hints, "give the pool a new subnet, or move its members first")
		}
		d.Fields[i] = f
	}
	if len(members) > 0 {
		d.Action = Update
	}
	p.add(d)
}

// members are the keys of what has an address in a range of the network.
func (p *subnets) members(ipRange string) []plan.Key {
	var keys []plan.Key
	in := func(nets []PrivateNet) bool {
		return slices.ContainsFunc(nets, func(n PrivateNet) bool { return n.Network == p.net.ID && inRange(ipRange, n.IP) })
	}
	for _, s := range p.observed.Servers {
		if in(s.PrivateNets) {
			keys = append(keys, KeyOf(KindServer, s.Name))
		}
	}
	for _, b := range p.observed.LoadBalancers {
		if in(b.PrivateNets) {
			keys = append(keys, KeyOf(KindLoadBalancer, b.Name))
		}
	}
	return keys
}

// deleteStale deletes subnets of the cluster's own network that are not
// desired. It runs last: what leaves a subnet has to be in the plan.
func (p *subnets) deleteStale() {
	if p.net == nil || p.foreign() || p.desired.KeepOthers {
		return
	}
	// Hetzner lists them in the order in which they were made, which is by chance.
	all := slices.Clone(p.net.Subnets)
	sorting.By(all, func(a, b Subnet) int { return natural.Compare(a.IPRange, b.IPRange) })
	for _, s := range all {
		if slices.ContainsFunc(p.want.Subnets, func(w schemas.InfraSubnet) bool { return samePrefix(w.IPRange, s.IPRange) }) {
			continue
		}
		d := buildChange(KindSubnet, s.IPRange, 0, Delete)
		d.Reason = "it is not in infrastructure.yaml"
		var staying []plan.Key
		for _, key := range p.members(s.IPRange) {
			if p.leaves(key) {
				d.after(key)
			} else {
				staying = append(staying, key)
			}
		}
		for _, r := range p.net.Routes {
			if inRange(s.IPRange, r.Gateway) {
				d.after(KeyOf(KindRoute, r.Destination))
			}
		}
		for _, b := range p.observed.LoadBalancers {
			if slices.ContainsFunc(b.Targets, func(t Target) bool { return inRange(s.IPRange, t.IP) }) {
				d.after(KeyOf(KindLoadBalancer, b.Name))
			}
		}
		sorting.By(staying, func(a, b plan.Key) int { return natural.Compare(string(a), string(b)) })
		if len(staying) > 0 {
			p.refusal(d.Key, "it is not in infrastructure.yaml, but in use by "+plan.Join(staying), "describe the subnet, or move what is in it")
			continue
		}
		p.add(d)
	}
}
