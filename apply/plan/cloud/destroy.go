package cloud

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// Destroy plans the removal of everything that the cluster owns, what runs left
// behind included; only the lock of the current run stays. Whoever calls it has
// been asked: consent is only needed for what is protected, and for what parts
// of the cluster made (load balancers of services, volumes with data, servers of
// the autoscaler). Without it these are left, and so is what they are in.
//
// Of what is desired it needs the name of the cluster, the autoscaler's pools
// and an existing network.
func Destroy(desired schemas.Infrastructure, observed Observed, policy plan.Policy) (*Plan, error) {
	m, err := newMaker(desired, observed, policy)
	if err != nil {
		return nil, err
	}
	m.plan.Destroy = true
	m.destroyBalancers()
	m.destroyServers()
	m.destroyVolumes()
	m.destroyRecords()
	destroyAll(m, KindFloatingIP, observed.FloatingIPs, func(f *FloatingIP) bool { return f.Protected })
	destroyAll(m, KindPrimaryIP, observed.PrimaryIPs, func(p *PrimaryIP) bool { return p.Protected })
	destroyAll(m, KindImage, observed.Images, func(i *Image) bool { return i.Protected })
	destroyAll(m, KindSSHKey, observed.SSHKeys, func(*SSHKey) bool { return false })
	destroyAll(m, KindPlacementGroup, observed.PlacementGroups, func(*PlacementGroup) bool { return false })
	m.destroyFirewalls()
	m.leaveFirewalls()
	m.leaveForeign()
	destroyAll(m, KindNetwork, observed.Networks, func(n *Network) bool { return n.Protected })
	m.destroyOrder()
	m.leaveImages()
	return m.ordered()
}

// doomed reports whether an object goes with the cluster: it is marked, and not
// the lock that the current run holds.
func (m *maker) doomed(labels map[string]string) bool {
	return m.owner.marked(labels) && labels[schemas.LabelComponent] != schemas.ComponentLock && labels[schemas.LabelNodeGroup] == ""
}

// destroyAll deletes all objects of a kind that go with the cluster.
func destroyAll[T object](m *maker, kind Kind, list []T, protected func(*T) bool) {
	for i := range list {
		if meta := list[i].meta(); m.doomed(meta.Labels) {
			m.destroy(m.draft(kind, nameOf(meta), meta.ID, Delete), meta.Labels, protected(&list[i]), "")
		}
	}
}

// nameOf is how an object is called: images that talosgen makes have no name.
func nameOf(meta Meta) string {
	if meta.Name == "" {
		return idText(meta.ID)
	}
	return meta.Name
}

// destroy adds a deletion, with the consent that it takes. Made says which part
// of the cluster made it; empty for what is the cluster's own. With what belongs
// to a run nothing is lost: runs come and go while somebody destroys.
func (m *maker) destroy(d *draft, labels map[string]string, protected bool, made string) {
	d.Destructive, d.LiftProtection, d.Reason = !transient(labels), protected, made
	d.Allowed = true
	if made != "" {
		d.Consent = plan.ConsentMade // which the policy gives: others are left
	}
	if protected {
		d.Consent, d.Allowed = plan.ConsentUnlock, m.policy.Unprotect == m.desired.Cluster
	}
	d.Class = InPlace
	m.plan.Changes = append(m.plan.Changes, d.Change)
}

// destroyMade deletes what a part of the cluster made, if somebody agrees.
func (m *maker) destroyMade(d *draft, labels map[string]string, protected bool, made string, agreed bool) {
	if agreed || m.policy.AllowMade || plan.Named(m.policy.Allow, d.Key, d.Name) {
		m.destroy(d, labels, protected, made)
		return
	}
	m.left(d.Key, made, fmt.Sprintf("to delete it too: --allow %s, or --allow-made for all", d.Key))
}

func (m *maker) left(key plan.Key, text, hint string) {
	m.plan.Left = append(m.plan.Left, plan.Note{Key: key, Text: text, Hint: hint})
}

func (m *maker) destroyBalancers() {
	for _, b := range m.observed.LoadBalancers {
		d := m.draft(KindLoadBalancer, b.Name, b.ID, Delete)
		switch {
		case m.doomed(b.Labels):
			m.destroy(d, b.Labels, b.Protected, "")
		case m.owner.madeBalancer(b):
			m.destroyMade(d, b.Labels, b.Protected, partCCM+" made it for a service", false)
		}
	}
}

func (m *maker) destroyServers() {
	for _, s := range m.observed.Servers {
		d := m.draft(KindServer, s.Name, s.ID, Delete)
		switch {
		case s.Status == statusDeleting:
		case m.owner.made(s):
			group := s.Labels[schemas.LabelNodeGroup]
			m.destroyMade(d, s.Labels, s.DeleteProtect, fmt.Sprintf("%s made it for the group %s", partAutoscaler, group), m.cleanup(group))
		case m.doomed(s.Labels):
			m.destroy(d, s.Labels, s.DeleteProtect, "")
		}
	}
}

// cleanup reports whether cluster.yaml agrees to delete the servers of a group.
func (m *maker) cleanup(group string) bool {
	return slices.ContainsFunc(m.desired.AutoscalerPools, func(p schemas.InfraAutoscalerPool) bool { return p.Group == group && p.Cleanup })
}

func (m *maker) destroyVolumes() {
	for _, v := range m.observed.Volumes {
		d := m.draft(KindVolume, v.Name, v.ID, Delete)
		if v.Server != 0 {
			d.after(m.serverKey(v.Server))
		}
		switch {
		case m.owner.madeVolume(v):
			made := partCSI + " made it, and it has data"
			if claim := v.claim(); claim != "" {
				made += " of the claim " + claim
			}
			m.destroyMade(d, v.Labels, v.Protected, made, false)
		case m.doomed(v.Labels):
			m.destroy(d, v.Labels, v.Protected, "")
		}
	}
}

func (m *maker) destroyRecords() {
	for _, z := range m.observed.Zones {
		for _, set := range z.RRSets {
			if m.doomed(set.Labels) {
				m.destroy(m.draft(KindRRSet, recordName(set.Name, z.Name, set.Type), 0, Delete), set.Labels, set.Protected, "")
			}
		}
	}
}

// destroyFirewalls deletes firewalls, but none that something else relies on.
func (m *maker) destroyFirewalls() {
	for _, f := range m.observed.Firewalls {
		if !m.doomed(f.Labels) {
			continue
		}
		d := m.draft(KindFirewall, f.Name, f.ID, Delete)
		var staying []plan.Key
		for _, s := range m.observed.Servers {
			applied := slices.ContainsFunc(s.Firewalls, func(a AppliedFirewall) bool { return a.ID == f.ID }) || slices.Contains(f.Servers, s.ID)
			if applied && !m.goes(KindServer, s.ID) && s.Status != statusDeleting {
				staying = append(staying, KeyOf(KindServer, s.Name))
			}
		}
		if len(staying) > 0 {
			m.left(d.Key, "it still protects "+join(staying), "remove it there, and destroy again")
			continue
		}
		m.destroy(d, f.Labels, false, "")
	}
}

// leaveFirewalls takes the cluster's selector from firewalls of somebody else.
func (m *maker) leaveFirewalls() {
	for _, want := range m.desired.Firewalls {
		for _, have := range m.observed.Firewalls {
			if want.ExistingID == 0 || have.ID != want.ExistingID {
				continue
			}
			d := m.draft(KindFirewall, firewallName(want), have.ID, Update)
			d.Class, d.Allowed, d.Reason = InPlace, true, "the firewall itself is not the cluster's"
			for _, s := range have.Selectors {
				if sameSelector(s, want.ApplyTo) || m.ourSelector(s) {
					d.field(Field{Name: FieldApplyTo, Item: s, from: "applied", Class: InPlace})
				}
			}
			if len(d.Fields) > 0 {
				m.plan.Changes = append(m.plan.Changes, d.Change)
			}
		}
	}
}

// goes reports whether the plan deletes an object.
func (m *maker) goes(kind Kind, id int64) bool {
	c := m.change(kind, id)
	return c != nil && c.Action == Delete
}

// destroyOrder lets objects wait for those that are in or at them, and leaves
// networks that something stays in.
func (m *maker) destroyOrder() {
	m.plan.Changes = slices.DeleteFunc(m.plan.Changes, func(c Change) bool {
		if c.Kind != KindNetwork {
			return false
		}
		staying := m.staying(c.ID)
		if len(staying) > 0 {
			m.left(c.Key, "it is still used by "+join(staying), "when they are gone, destroy again")
		}
		return len(staying) > 0
	})
	for i := range m.plan.Changes {
		c := &m.plan.Changes[i]
		for _, other := range m.plan.Changes {
			if c.waitsFor(&other) {
				c.gone = append(c.gone, other.Key)
			}
		}
	}
}

// waitsFor reports whether an object can only be deleted after another.
func (c *Change) waitsFor(other *Change) bool {
	switch c.Kind {
	case KindNetwork:
		return slices.Contains([]Kind{KindServer, KindLoadBalancer, KindSubnet, KindRoute}, other.Kind)
	case KindFirewall, KindPlacementGroup, KindFloatingIP, KindPrimaryIP, KindVolume, KindSubnet:
		return other.Kind == KindServer || c.Kind == KindSubnet && other.Kind == KindRoute
	default:
		return false
	}
}

// staying are the keys of what is in a network and not deleted.
func (m *maker) staying(network int64) []plan.Key {
	var keys []plan.Key
	in := func(nets []PrivateNet) bool {
		return slices.ContainsFunc(nets, func(n PrivateNet) bool { return n.Network == network })
	}
	for _, b := range m.observed.LoadBalancers {
		if in(b.PrivateNets) && !m.goes(KindLoadBalancer, b.ID) {
			keys = append(keys, KeyOf(KindLoadBalancer, b.Name))
		}
	}
	for _, s := range m.observed.Servers {
		if in(s.PrivateNets) && !m.goes(KindServer, s.ID) && s.Status != statusDeleting {
			keys = append(keys, KeyOf(KindServer, s.Name))
		}
	}
	return keys
}

// leaveForeign says what stays in a network that is not the cluster's own. It
// cannot be told whether a subnet was there before; a route to a server of the
// cluster leads nowhere without it, and goes.
func (m *maker) leaveForeign() {
	want := m.desired.Network
	if !foreign(want) || m.net == nil {
		return
	}
	for _, r := range want.Routes {
		have := m.route(r.Destination)
		if have == nil || have.Gateway != r.Gateway {
			continue
		}
		key := KeyOf(KindRoute, r.Destination)
		if m.gatewayGoes(r.Gateway) {
			m.destroy(m.draft(KindRoute, r.Destination, 0, Delete), nil, false, "")
		} else {
			m.left(key, "the network is not the cluster's own", "delete the route by hand if nothing else needs it")
		}
	}
	for _, s := range want.Subnets {
		if m.subnet(s.IPRange) != nil {
			m.left(KeyOf(KindSubnet, s.IPRange), "the network is not the cluster's own", "delete the subnet by hand if nothing else needs it")
		}
	}
}

// gatewayGoes reports whether a server with an address is deleted.
func (m *maker) gatewayGoes(address string) bool {
	return slices.ContainsFunc(m.observed.Servers, func(s Server) bool {
		return m.hasAddress(s, address) && m.goes(KindServer, s.ID)
	})
}

// leaveImages says which images stay: another environment may
// use them.
func (m *maker) leaveImages() {
	prune := strings.TrimSpace("talosgen image prune " + m.policy.Environment)
	for _, want := range m.desired.Images {
		selector, err := labelselector.Parse(want.Selector)
		for _, have := range m.observed.Images {
			if err == nil && have.Name == "" && have.Architecture == want.Architecture && selector.Matches(have.Labels) && !m.doomed(have.Labels) {
				m.left(KeyOf(KindImage, idText(have.ID)), fmt.Sprintf("it belongs to no cluster: %s for %s", want.Selector, want.Architecture),
					"if no environment needs it: "+prune)
			}
		}
	}
}
