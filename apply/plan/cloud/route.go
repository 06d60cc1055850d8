package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// routes plans the routes of the network.
type routes struct{ *planner }

// compare compares the routes of the network.
func (p *routes) compare() {
	g := &gateways{p.planner}
	g.choose()
	for _, r := range p.want.Routes {
		have := p.route(r.Destination)
		switch {
		case have == nil:
			d := buildChange(KindRoute, r.Destination, 0, Create)
			d.Reason = missing
			d.show(FieldGateway, r.Gateway)
			p.addRoute(d, r)
		case have.Gateway == r.Gateway:
		case p.foreign():
			p.warn(KeyOf(KindRoute, r.Destination),
				fmt.Sprintf("the network has this route already, but to %s, not %s", have.Gateway, r.Gateway),
				"nothing is changed about a network that is not the cluster's own")
		default:
			d := buildChange(KindRoute, r.Destination, 0, Update)
			g.lead(d, r, have.Gateway)
			p.addRoute(d, r)
		}
	}
	if p.net == nil || p.foreign() || p.desired.KeepOthers {
		return
	}
	for _, r := range p.net.Routes {
		if !slices.ContainsFunc(p.want.Routes, func(w schemas.InfraRoute) bool { return samePrefix(w.Destination, r.Destination) }) && !p.podRoute(r) {
			d := buildChange(KindRoute, r.Destination, 0, Delete)
			d.Destructive, d.Reason = true, "it is not in infrastructure.yaml"
			p.add(d)
		}
	}
}

func (p *routes) addRoute(d *changeBuilder, r schemas.InfraRoute) {
	d.needs(p.networkKey())
	if key := p.subnetFor(r.Gateway); key != "" {
		d.needs(key)
	}
	p.add(d)
}

// podRoute reports whether a route leads pods to their node: the cloud
// controller makes one for each node, in the range of the network or with a
// node as gateway.
func (p *routes) podRoute(r schemas.InfraRoute) bool {
	if prefixContains(p.net.IPRange, r.Destination) && !samePrefix(p.net.IPRange, r.Destination) {
		return true
	}
	return slices.ContainsFunc(p.observed.Servers, func(s Server) bool {
		return p.owner.servers[s.ID] && s.Labels[schemas.LabelRole] != schemas.RoleNATGateway &&
			slices.ContainsFunc(s.PrivateNets, func(n PrivateNet) bool { return n.Network == p.net.ID && n.IP == r.Gateway })
	})
}
