package graph

import (
	"slices"

	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// ways draws how people reach the cluster, and what leads where in it.
func (b *builder) ways() {
	for _, in := range b.entries() {
		guards := b.guards(in.labels)
		for _, guard := range guards {
			b.arrow(peopleID, guard)
			b.arrow(guard, in.id)
		}
		if len(guards) == 0 {
			b.arrow(peopleID, in.id)
		}
	}
	for _, l := range b.infra.LoadBalancers {
		for _, t := range l.Targets {
			for _, id := range b.selected(t) {
				b.arrow(balancerID(l), id)
			}
		}
		for _, p := range b.pools {
			if slices.ContainsFunc(p.nodes, func(n node) bool { return slices.Contains(l.IPTargets, n.address) }) {
				b.arrow(balancerID(l), p.id())
			}
		}
	}
	b.jump()
	b.toShared()
}

// arrow adds an arrow, once, between cards that are there.
func (b *builder) arrow(from, to string) {
	a := Arrow{from, to}
	_, here := b.picture.card(from)
	_, there := b.picture.card(to)
	if here && there && from != to && !slices.Contains(b.picture.Arrows, a) {
		b.picture.Arrows = append(b.picture.Arrows, a)
	}
}

// entry is something that can be reached from outside.
type entry struct {
	id     string
	labels map[string]string // by which firewalls know it; none: they do not filter it
}

// entries are what people come in by.
func (b *builder) entries() (all []entry) {
	for _, l := range b.infra.LoadBalancers {
		if l.PublicInterface {
			all = append(all, entry{id: balancerID(l)})
		}
	}
	for _, ip := range b.infra.FloatingIPs {
		all = append(all, entry{id: floatingIP(ip).ID})
	}
	for _, s := range b.infra.Servers {
		if b.infra.Access.Leads(s.Name) {
			all = append(all, entry{gatewayID(s), s.Labels})
		}
	}
	if b.infra.Access.Mode == "private" {
		return all
	}
	if b.infra.Provider == schemas.Static && b.infra.KubernetesAPI.VirtualIP != "" {
		return append(all, entry{id: sharedID})
	}
	for _, p := range b.pools {
		if p.role == schemas.RoleControlPlane {
			all = append(all, entry{p.id(), p.labels})
		}
	}
	return all
}

// guards are the firewalls that apply to servers with some labels.
func (b *builder) guards(labels map[string]string) (ids []string) {
	for _, f := range b.infra.Firewalls {
		if labels != nil && f.ApplyTo != "" && matches(f.ApplyTo, labels) {
			ids = append(ids, firewallID(f))
		}
	}
	return ids
}

// selected are the pools whose servers a selector selects.
func (b *builder) selected(selector string) (ids []string) {
	for _, p := range b.pools {
		if matches(selector, p.labels) {
			ids = append(ids, p.id())
		}
	}
	for _, p := range b.infra.AutoscalerPools {
		if matches(selector, p.Labels) {
			ids = append(ids, scalerID(p))
		}
	}
	return ids
}

// matches reports whether a selector selects some labels. One that cannot be
// read selects nothing: apply says what is wrong with it.
func matches(selector string, labels map[string]string) bool {
	s, err := labelselector.Parse(selector)
	return err == nil && s.Matches(labels)
}

// jump draws where the servers that people go through lead to: to the Kubernetes
// API.
func (b *builder) jump() {
	for _, s := range b.infra.Servers {
		if b.infra.Access.Leads(s.Name) {
			b.toAPI(gatewayID(s))
		}
	}
}

// toAPI draws that something leads to the Kubernetes API.
func (b *builder) toAPI(from string) {
	for _, l := range b.infra.LoadBalancers {
		if l.Labels[schemas.LabelComponent] == "kube-api" {
			b.arrow(from, balancerID(l))
			return
		}
	}
	if _, ok := b.picture.card(sharedID); ok {
		b.arrow(from, sharedID)
		return
	}
	for _, p := range b.pools {
		if p.role == schemas.RoleControlPlane {
			b.arrow(from, p.id())
		}
	}
}

// toShared draws what has the addresses that move between control planes.
func (b *builder) toShared() {
	for _, p := range b.pools {
		if p.role != schemas.RoleControlPlane {
			continue
		}
		b.arrow(sharedID, p.id())
		for _, ip := range b.infra.FloatingIPs {
			b.arrow(floatingIP(ip).ID, p.id())
		}
	}
}
