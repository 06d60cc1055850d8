package cloud

import (
	"fmt"

	"github.com/talosgen/talosgen/schemas"
)

// networks plans the network itself.
type networks struct{ *planner }

// compare reports whether the network can be used.
func (p *networks) compare() (usable bool) {
	switch {
	case p.want == nil:
	case p.foreign():
		usable = p.foreignNetwork(p.want)
	default:
		usable = p.ownNetwork(p.want)
	}
	stale(p.planner, KindNetwork, p.observed.Networks, p.deleteNetwork)
	return usable
}

// foreignNetwork reports whether the network can be used: it changes nothing.
func (p *networks) foreignNetwork(want *schemas.InfraNetwork) bool {
	key := p.networkKey()
	if p.net == nil {
		p.refusal(key, "there is no such network in the project", "make it, or correct the network in cluster.yaml")
		return false
	}
	p.use(KindNetwork, networkName(want), p.net.ID)
	if p.owner.owns(p.net.Labels) {
		p.warn(key, "by its labels it is the cluster's own, and destroy deletes it", "remove the labels if it is not")
	}
	if !samePrefix(want.IPRange, p.net.IPRange) {
		p.refusal(key, fmt.Sprintf("its range is %s, not %s, and it is not the cluster's own", p.net.IPRange, want.IPRange),
			"set the range in cluster.yaml to that of the network")
	}
	if want.ExposeRoutesToVSwitch && !p.net.ExposeRoutesToVSwitch {
		p.refusal(key, "it does not tell its vSwitch the routes, and it is not the cluster's own",
			"turn on exposing routes to the vSwitch at the network")
	}
	return true
}

// ownNetwork reports whether the network can be used: nobody else has its name.
func (p *networks) ownNetwork(want *schemas.InfraNetwork) bool {
	have, blocked := claim(p.planner, KindNetwork, want.Name, p.observed.Networks)
	if blocked {
		return false
	}
	if have == nil {
		d := buildChange(KindNetwork, want.Name, 0, Create)
		d.show(FieldIPRange, want.IPRange)
		d.Reason = missing
		p.add(d)
		return true
	}
	d := buildChange(KindNetwork, want.Name, have.ID, Update)
	d.networkRange(have.IPRange, want.IPRange)
	d.differ(FieldExpose, onOff(have.ExposeRoutesToVSwitch), onOff(want.ExposeRoutesToVSwitch), "")
	d.labels(have.Labels, want.Labels)
	d.differ(FieldProtected, onOff(have.Protected), onOff(want.Protected), "")
	p.add(d)
	return true
}

// networkRange lets a network grow around what it has; Hetzner allows no more.
func (d *changeBuilder) networkRange(from, to string) {
	if samePrefix(from, to) {
		return
	}
	f := Field{Name: FieldIPRange, from: from, to: to, Class: InPlace}
	if prefixContains(to, from) {
		d.field(f)
		return
	}
	f.Reason = "a network can only grow around its range"
	d.refuse(f, "keep the range %s, or one that contains it", from)
}

// deleteNetwork deletes a network that is no longer desired, with everything
// in it gone before.
func (p *networks) deleteNetwork(n *Network) {
	d := buildChange(KindNetwork, n.Name, n.ID, Delete)
	d.Destructive, d.LiftProtection, d.Reason = true, n.Protected, unwanted
	for _, id := range n.Servers {
		d.after(p.observed.serverKey(id))
	}
	for _, id := range n.LoadBalancers {
		d.after(p.observed.balancerKey(id))
	}
	p.add(d)
}

// Reasons that many changes have.
const (
	missing  = "it is not there"
	unwanted = "it is the cluster's, and no longer in infrastructure.yaml"
)
