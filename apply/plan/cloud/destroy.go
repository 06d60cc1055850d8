package cloud

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// destroyer plans the end of a cluster.
type destroyer struct{ *planner }

// Destroy plans the removal of everything that the cluster owns, what runs left
// behind included; only the lock of the current run stays. Whoever calls it has
// been asked: consent is only needed for what is protected, and for what parts
// of the cluster made (load balancers of services, volumes with data, servers of
// the autoscaler). Without it these are left, and so is what they are in.
//
// Of what is desired it needs the name of the cluster, the autoscaler's pools
// and an existing network.
func Destroy(desired schemas.Infrastructure, observed Observed, policy plan.Consent) (*Plan, error) {
	base, err := newPlanner(desired, observed, policy)
	if err != nil {
		return nil, err
	}
	p := &destroyer{base}
	p.plan.Destroy = true
	p.destroyBalancers()
	p.destroyServers()
	p.destroyVolumes()
	p.destroyRecords()
	destroyAll(p, KindFloatingIP, observed.FloatingIPs, func(f *FloatingIP) bool { return f.Protected })
	destroyAll(p, KindPrimaryIP, observed.PrimaryIPs, func(ip *PrimaryIP) bool { return ip.Protected })
	destroyAll(p, KindImage, observed.Images, func(i *Image) bool { return i.Protected })
	destroyAll(p, KindSSHKey, observed.SSHKeys, func(*SSHKey) bool { return false })
	destroyAll(p, KindPlacementGroup, observed.PlacementGroups, func(*PlacementGroup) bool { return false })
	p.destroyFirewalls()
	p.leaveFirewalls()
	p.leaveForeign()
	destroyAll(p, KindNetwork, observed.Networks, func(n *Network) bool { return n.Protected })
	p.destroyOrder()
	p.leaveImages()
	return p.finish()
}

// doomed reports whether an object goes with the cluster: it is marked, and not
// the lock that the current run holds.
func (p *destroyer) doomed(labels map[string]string) bool {
	return p.owner.marked(labels) && labels[schemas.LabelComponent] != schemas.ComponentLock && labels[schemas.LabelNodeGroup] == ""
}

// destroyAll deletes all objects of a kind that go with the cluster.
func destroyAll[T object](p *destroyer, kind Kind, list []T, protected func(*T) bool) {
	for i := range list {
		if meta := list[i].meta(); p.doomed(meta.Labels) {
			p.destroy(buildChange(kind, nameOf(meta), meta.ID, Delete), meta.Labels, protected(&list[i]), "")
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
func (p *destroyer) destroy(d *changeBuilder, labels map[string]string, protected bool, made string) {
	d.Destructive, d.LiftProtection, d.Reason = !transient(labels), protected, cmp.Or(made, adoptedReason(labels))
	d.Allowed = true
	if made != "" {
		d.Consent = plan.ConsentMade // which the policy gives: others are left
	}
	if protected {
		d.Consent, d.Allowed = plan.ConsentUnlock, p.policy.Unprotect == p.desired.Cluster
	}
	d.Class = InPlace
	p.plan.Changes = append(p.plan.Changes, d.Change)
}

// destroyMade deletes what a part of the cluster made, if somebody agrees.
func (p *destroyer) destroyMade(d *changeBuilder, labels map[string]string, protected bool, made string, agreed bool) {
	if agreed || p.policy.AllowMade || plan.Named(p.policy.Allow, d.Key, d.Name) {
		p.destroy(d, labels, protected, made)
		return
	}
	p.left(d.Key, made, fmt.Sprintf("to delete it too: --allow %s, or --allow-made for all", d.Key))
}

func (p *destroyer) destroyBalancers() {
	for _, b := range p.observed.LoadBalancers {
		d := buildChange(KindLoadBalancer, b.Name, b.ID, Delete)
		switch {
		case p.doomed(b.Labels):
			p.destroy(d, b.Labels, b.Protected, "")
		case p.owner.madeBalancer(b):
			p.destroyMade(d, b.Labels, b.Protected, partCCM+" made it for a service", false)
		}
	}
}

func (p *destroyer) destroyServers() {
	for _, s := range p.observed.Servers {
		d := buildChange(KindServer, s.Name, s.ID, Delete)
		switch {
		case s.Status == statusDeleting:
		case p.owner.made(s):
			group := s.Labels[schemas.LabelNodeGroup]
			p.destroyMade(d, s.Labels, s.DeleteProtect, fmt.Sprintf("%s made it for the group %s", partAutoscaler, group), p.cleanup(group))
		case p.doomed(s.Labels):
			p.destroy(d, s.Labels, s.DeleteProtect, "")
		}
	}
}

// cleanup reports whether cluster.yaml agrees to delete the servers of a group.
func (p *destroyer) cleanup(group string) bool {
	return slices.ContainsFunc(p.desired.AutoscalerPools, func(p schemas.InfraAutoscalerPool) bool { return p.Group == group && p.Cleanup })
}

func (p *destroyer) destroyVolumes() {
	for _, v := range p.observed.Volumes {
		d := buildChange(KindVolume, v.Name, v.ID, Delete)
		if v.Server != 0 {
			d.after(p.observed.serverKey(v.Server))
		}
		switch {
		case p.owner.madeVolume(v):
			made := partCSI + " made it, and it has data"
			if claim := v.claim(); claim != "" {
				made += " of the claim " + claim
			}
			p.destroyMade(d, v.Labels, v.Protected, made, false)
		case p.doomed(v.Labels):
			p.destroyMade(d, v.Labels, v.Protected, "it has the data of a node", false)
		}
	}
}

func (p *destroyer) destroyRecords() {
	for _, z := range p.observed.Zones {
		for _, set := range z.RRSets {
			if p.doomed(set.Labels) {
				p.destroy(buildChange(KindRRSet, recordName(set.Name, z.Name, set.Type), 0, Delete), set.Labels, set.Protected, "")
			}
		}
	}
}

// destroyFirewalls deletes firewalls, but none that something else relies on.
func (p *destroyer) destroyFirewalls() {
	for _, f := range p.observed.Firewalls {
		if !p.doomed(f.Labels) {
			continue
		}
		d := buildChange(KindFirewall, f.Name, f.ID, Delete)
		var staying []plan.Key
		for _, s := range p.observed.Servers {
			applied := slices.ContainsFunc(s.Firewalls, func(a AppliedFirewall) bool { return a.ID == f.ID }) || slices.Contains(f.Servers, s.ID)
			if applied && !p.goes(KindServer, s.ID) && s.Status != statusDeleting {
				staying = append(staying, KeyOf(KindServer, s.Name))
			}
		}
		if len(staying) > 0 {
			p.left(d.Key, "it still protects "+plan.Join(staying), "remove it there, and destroy again")
			continue
		}
		p.destroy(d, f.Labels, false, "")
	}
}

// leaveFirewalls takes the cluster's selector from firewalls of somebody else.
func (p *destroyer) leaveFirewalls() {
	for _, want := range p.desired.Firewalls {
		for _, have := range p.observed.Firewalls {
			if want.ExistingID == 0 || have.ID != want.ExistingID {
				continue
			}
			d := buildChange(KindFirewall, firewallName(want), have.ID, Update)
			d.Class, d.Allowed, d.Reason = InPlace, true, "the firewall itself is not the cluster's"
			for _, s := range have.Selectors {
				if sameSelector(s, want.ApplyTo) || p.owner.ourSelector(s) {
					d.field(Field{Name: FieldApplyTo, Item: s, from: "applied", Class: InPlace})
				}
			}
			if len(d.Fields) > 0 {
				p.plan.Changes = append(p.plan.Changes, d.Change)
			}
		}
	}
}

// destroyOrder lets objects wait for those that are in or at them, and leaves
// networks that something stays in.
func (p *destroyer) destroyOrder() {
	p.plan.Changes = slices.DeleteFunc(p.plan.Changes, func(c Change) bool {
		if c.Kind != KindNetwork {
			return false
		}
		staying := p.staying(c.ID)
		if len(staying) > 0 {
			p.left(c.Key, "it is still used by "+plan.Join(staying), "when they are gone, destroy again")
		}
		return len(staying) > 0
	})
	for i := range p.plan.Changes {
		c := &p.plan.Changes[i]
		for _, other := range p.plan.Changes {
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
func (p *destroyer) staying(network int64) []plan.Key {
	var keys []plan.Key
	in := func(nets []PrivateNet) bool {
		return slices.ContainsFunc(nets, func(n PrivateNet) bool { return n.Network == network })
	}
	for _, b := range p.observed.LoadBalancers {
		if in(b.PrivateNets) && !p.goes(KindLoadBalancer, b.ID) {
			keys = append(keys, KeyOf(KindLoadBalancer, b.Name))
		}
	}
	for _, s := range p.observed.Servers {
		if in(s.PrivateNets) && !p.goes(KindServer, s.ID) && s.Status != statusDeleting {
			keys = append(keys, KeyOf(KindServer, s.Name))
		}
	}
	return keys
}

// leaveForeign says what stays in a network that is not the cluster's own. It
// cannot be told whether a subnet was there before; a route to a server of the
// cluster leads nowhere without it, and goes.
func (p *destroyer) leaveForeign() {
	want := p.want
	if !p.foreign() || p.net == nil {
		return
	}
	for _, r := range want.Routes {
		have := p.route(r.Destination)
		if have == nil || have.Gateway != r.Gateway && have.Gateway != r.Standby {
			continue
		}
		key := KeyOf(KindRoute, r.Destination)
		if p.gatewayGoes(have.Gateway) {
			p.destroy(buildChange(KindRoute, r.Destination, 0, Delete), nil, false, "")
		} else {
			p.left(key, "the network is not the cluster's own", "delete the route by hand if nothing else needs it")
		}
	}
	for _, s := range want.Subnets {
		if p.subnet(s.IPRange) != nil {
			p.left(KeyOf(KindSubnet, s.IPRange), "the network is not the cluster's own", "delete the subnet by hand if nothing else needs it")
		}
	}
}

// gatewayGoes reports whether a server with an address is deleted.
func (p *destroyer) gatewayGoes(address string) bool {
	return slices.ContainsFunc(p.observed.Servers, func(s Server) bool {
		return p.hasAddress(s, address) && p.goes(KindServer, s.ID)
	})
}

// leaveImages says which images stay: another environment may
// use them.
func (p *destroyer) leaveImages() {
	prune := strings.TrimSpace("talosgen image prune " + p.policy.Environment)
	for _, want := range p.desired.Images {
		selector, err := labelselector.Parse(want.Selector)
		for _, have := range p.observed.Images {
			if err == nil && have.Name == "" && have.Architecture == want.Architecture && selector.Matches(have.Labels) && !p.doomed(have.Labels) {
				p.left(KeyOf(KindImage, idText(have.ID)), fmt.Sprintf("it belongs to no cluster: %s for %s", want.Selector, want.Architecture),
					"if no environment needs it: "+prune)
			}
		}
	}
}
