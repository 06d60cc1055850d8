package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// routes compares the routes of the network.
func (m *maker) routes(want *schemas.InfraNetwork) {
	for _, r := range want.Routes {
		have := m.route(r.Destination)
		switch {
		case have == nil:
			d := m.draft(KindRoute, r.Destination, 0, Create)
			d.Reason = missing
			d.show(FieldGateway, r.Gateway)
			m.addRoute(d, r)
		case have.Gateway == r.Gateway:
		case foreign(want):
			m.warn(KeyOf(KindRoute, r.Destination),
				fmt.Sprintf("the network has this route already, but to %s, not %s", have.Gateway, r.Gateway),
				"nothing is changed about a network that is not the cluster's own")
		default:
			d := m.draft(KindRoute, r.Destination, 0, Update)
			d.differ(FieldGateway, have.Gateway, r.Gateway, "")
			m.addRoute(d, r)
		}
	}
	if m.net == nil || foreign(want) {
		return
	}
	for _, r := range m.net.Routes {
		if !slices.ContainsFunc(want.Routes, func(w schemas.InfraRoute) bool { return samePrefix(w.Destination, r.Destination) }) && !m.podRoute(r) {
			d := m.draft(KindRoute, r.Destination, 0, Delete)
			d.Destructive, d.Reason = true, "it is not in infrastructure.yaml"
			m.add(d)
		}
	}
}

func (m *maker) addRoute(d *draft, r schemas.InfraRoute) {
	d.needs(m.networkKey())
	if key := m.subnetFor(r.Gateway); key != "" {
		d.needs(key)
	}
	m.add(d)
}

// route finds a route of the network by its destination.
func (m *maker) route(destination string) *schemas.InfraRoute {
	if m.net == nil {
		return nil
	}
	i := slices.IndexFunc(m.net.Routes, func(r schemas.InfraRoute) bool { return samePrefix(r.Destination, destination) })
	if i < 0 {
		return nil
	}
	return &m.net.Routes[i]
}

// podRoute reports whether a route leads pods to their node: the cloud
// controller makes one for each node, in the range of the network or with a
// node as gateway.
func (m *maker) podRoute(r schemas.InfraRoute) bool {
	if prefixContains(m.net.IPRange, r.Destination) && !samePrefix(m.net.IPRange, r.Destination) {
		return true
	}
	return slices.ContainsFunc(m.observed.Servers, func(s Server) bool {
		return m.owner.servers[s.ID] && s.Labels[schemas.LabelRole] != schemas.RoleNATGateway &&
			slices.ContainsFunc(s.PrivateNets, func(n PrivateNet) bool { return n.Network == m.net.ID && n.IP == r.Gateway })
	})
}
