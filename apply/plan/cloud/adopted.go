package cloud

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// withAdopted adds to the labels of what the policy takes over, and does not own yet, that
// it was adopted, so that whoever destroys the cluster later is told.
func (p *planner) withAdopted() {
	d := p.desired
	if n := d.Network; n != nil && !n.Existing && n.ExistingID == 0 {
		own := *n
		own.Labels = adoptedOf(p, KindNetwork, n.Labels, n.Name, p.observed.Networks)
		d.Network = &own
	}
	d.Servers = slices.Clone(d.Servers)
	for i := range d.Servers {
		s := &d.Servers[i]
		s.Labels = adoptedOf(p, KindServer, s.Labels, s.Name, p.observed.Servers)
	}
	d.PlacementGroups = slices.Clone(d.PlacementGroups)
	for i := range d.PlacementGroups {
		g := &d.PlacementGroups[i]
		g.Labels = adoptedOf(p, KindPlacementGroup, g.Labels, g.Name, p.observed.PlacementGroups)
	}
	d.LoadBalancers = slices.Clone(d.LoadBalancers)
	for i := range d.LoadBalancers {
		b := &d.LoadBalancers[i]
		b.Labels = adoptedOf(p, KindLoadBalancer, b.Labels, b.Name, p.observed.LoadBalancers)
	}
	d.FloatingIPs = slices.Clone(d.FloatingIPs)
	for i := range d.FloatingIPs {
		f := &d.FloatingIPs[i]
		f.Labels = adoptedOf(p, KindFloatingIP, f.Labels, f.Name, p.observed.FloatingIPs)
	}
	d.Firewalls = slices.Clone(d.Firewalls)
	for i := range d.Firewalls {
		f := &d.Firewalls[i]
		f.Labels = adoptedOf(p, KindFirewall, f.Labels, f.Name, p.observed.Firewalls)
	}
}

// adoptedOf are the labels of an object, with the one of what is adopted if it is.
func adoptedOf[T object](p *planner, kind Kind, want map[string]string, name string, list []T) map[string]string {
	i := slices.IndexFunc(list, func(o T) bool { return o.meta().Name == name })
	if i < 0 || p.owner.owns(list[i].meta().Labels) || !plan.Named(p.policy.Adopt, KeyOf(kind, name), name) {
		return want
	}
	all := maps.Clone(want)
	if all == nil {
		all = map[string]string{}
	}
	all[schemas.LabelAdopted] = schemas.AdoptedYes
	return all
}

// adoptedReason is what is said of an object that is deleted, and that talosgen did not
// make; empty of others.
func adoptedReason(labels map[string]string) string {
	if labels[schemas.LabelAdopted] == "" {
		return ""
	}
	return "it was adopted: it was there before talosgen"
}
