package cloud

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// subnets compares the subnets that are desired. Nothing about a subnet can be
// changed; a new one takes its place if nothing is in it.
func (m *maker) subnets(want *schemas.InfraNetwork) {
	for _, s := range want.Subnets {
		have := m.subnet(s.IPRange)
		switch {
		case have == nil:
			m.createSubnet(s)
		case foreign(want):
			m.foreignSubnet(s, have)
		default:
			m.replaceSubnet(s, have)
		}
	}
}

// subnet finds a subnet of the network by its range.
func (m *maker) subnet(ipRange string) *Subnet {
	if m.net == nil {
		return nil
	}
	i := slices.IndexFunc(m.net.Subnets, func(s Subnet) bool { return samePrefix(s.IPRange, ipRange) })
	if i < 0 {
		return nil
	}
	return &m.net.Subnets[i]
}

func (m *maker) createSubnet(want schemas.InfraSubnet) {
	d := m.draft(KindSubnet, want.IPRange, 0, Create)
	d.needs(m.networkKey())
	d.Reason = missing
	d.show("purpose", want.Purpose)
	d.show(FieldSubnetType, want.Type)
	d.show(FieldZone, want.NetworkZone)
	if want.VSwitchID != 0 {
		d.show(FieldVSwitch, idText(want.VSwitchID))
	}
	if m.net != nil {
		for _, other := range m.net.Subnets {
			if overlap(other.IPRange, want.IPRange) {
				m.overlapping(d, other)
			}
		}
	}
	m.add(d)
}

// overlapping lets a new subnet wait for the end of an old one in its place.
func (m *maker) overlapping(d *draft, other Subnet) {
	wanted := slices.ContainsFunc(m.desired.Network.Subnets, func(s schemas.InfraSubnet) bool { return samePrefix(s.IPRange, other.IPRange) })
	if wanted || foreign(m.desired.Network) {
		m.refusal(d.Key, fmt.Sprintf("it overlaps the subnet %s of the network", other.IPRange), "choose a range that is free")
		return
	}
	d.after(KeyOf(KindSubnet, other.IPRange))
}

// foreignSubnet takes a subnet of a network that is not the cluster's own as it
// is.
func (m *maker) foreignSubnet(want schemas.InfraSubnet, have *Subnet) {
	d := subnetDraft(m, want, have)
	if len(d.Fields) > 0 {
		m.warn(d.Key, "the network has this subnet already, but not as desired: "+fieldTexts(d.Fields), "nothing is changed about a network that is not the cluster's own")
	}
}

func subnetDraft(m *maker, want schemas.InfraSubnet, have *Subnet) *draft {
	d := m.draft(KindSubnet, want.IPRange, 0, Update)
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

func (m *maker) replaceSubnet(want schemas.InfraSubnet, have *Subnet) {
	d := subnetDraft(m, want, have)
	if len(d.Fields) == 0 {
		return
	}
	d.Action, d.Reason = Replace, "nothing about a subnet can be changed"
	d.needs(m.networkKey())
	members := m.members(have.IPRange)
	for i, f := range d.Fields {
		f.Class = Replacement
		if len(members) > 0 {
			f.Class, f.Reason = Refused, "the subnet is in use by "+join(members)
			d.hints = append(d.hints, "give the pool a new subnet, or move its members first")
		}
		d.Fields[i] = f
	}
	if len(members) > 0 {
		d.Action = Update
	}
	m.add(d)
}

// members are the keys of what has an address in a range of the network.
func (m *maker) members(ipRange string) []plan.Key {
	var keys []plan.Key
	in := func(nets []PrivateNet) bool {
		return slices.ContainsFunc(nets, func(n PrivateNet) bool { return n.Network == m.net.ID && inRange(ipRange, n.IP) })
	}
	for _, s := range m.observed.Servers {
		if in(s.PrivateNets) {
			keys = append(keys, KeyOf(KindServer, s.Name))
		}
	}
	for _, b := range m.observed.LoadBalancers {
		if in(b.PrivateNets) {
			keys = append(keys, KeyOf(KindLoadBalancer, b.Name))
		}
	}
	return keys
}

// join lists keys in words, the first three of them.
func join(keys []plan.Key) string {
	texts := make([]string, 0, len(keys))
	for i, k := range keys {
		if i == 3 && len(keys) > 4 {
			return strings.Join(texts, ", ") + fmt.Sprintf(" and %d more", len(keys)-i)
		}
		texts = append(texts, string(k))
	}
	return strings.Join(texts, ", ")
}

// staleSubnets deletes subnets of the cluster's own network that are not
// desired. It runs last: what leaves a subnet has to be in the plan.
func (m *maker) staleSubnets() {
	if m.net == nil || foreign(m.desired.Network) {
		return
	}
	for _, s := range m.net.Subnets {
		if slices.ContainsFunc(m.desired.Network.Subnets, func(w schemas.InfraSubnet) bool { return samePrefix(w.IPRange, s.IPRange) }) {
			continue
		}
		d := m.draft(KindSubnet, s.IPRange, 0, Delete)
		d.Reason = "it is not in infrastructure.yaml"
		var staying []plan.Key
		for _, key := range m.members(s.IPRange) {
			if m.leaves(key) {
				d.after(key)
			} else {
				staying = append(staying, key)
			}
		}
		for _, r := range m.net.Routes {
			if inRange(s.IPRange, r.Gateway) {
				d.after(KeyOf(KindRoute, r.Destination))
			}
		}
		if len(staying) > 0 {
			m.refusal(d.Key, "it is not in infrastructure.yaml, but in use by "+join(staying), "describe the subnet, or move what is in it")
			continue
		}
		m.add(d)
	}
}

// leaves reports whether the plan takes an object out of the network's subnet.
func (m *maker) leaves(key plan.Key) bool {
	return slices.ContainsFunc(m.plan.Changes, func(c Change) bool {
		if c.Key != key {
			return false
		}
		return c.Action == Delete || c.Action == Replace ||
			slices.ContainsFunc(c.Fields, func(f Field) bool { return f.Name == FieldPrivateIP && f.Edit != Add && f.Class != Refused })
	})
}
