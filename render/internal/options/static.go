package options

import (
	"net/netip"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/schemas"
)

// staticLink is the link of a machine that exists already; nil if there is
// nothing to say about it.
func (c places) staticLink(n model.Node) *machine.Link {
	link := machine.Link{
		Name: machine.Option{Value: n.Interface, Pos: n.Pos("interface")},
		MAC:  machine.Option{Value: n.Match.MAC, Pos: n.Pos("match", "mac")},
	}
	if n.MTU != 0 {
		link.MTU = machine.Option{Value: strconv.Itoa(n.MTU), Pos: n.Pos("mtu")}
	}
	if n.VLAN != 0 {
		link.VLAN = machine.Option{Value: strconv.Itoa(n.VLAN), Pos: n.Pos("vlanId")}
	}
	if n.Gateway.IsValid() {
		link.Routes = append(link.Routes, machine.Route{Gateway: machine.Option{Value: n.Gateway.String(), Pos: n.Pos("gateway")}})
	}
	link.Routes = append(append(link.Routes, ownRoutes(n)...), c.extraRoutes()...)
	if vip := &c.config.Cluster.Nodes.ControlPlane.VIP; *vip != "" && n.Role == config.ControlPlane {
		link.VIP = &machine.VIP{Address: c.text(vip)}
	}
	switch {
	case n.Address.IsValid():
		link.Address = machine.Option{Value: n.Address.String(), Pos: n.Pos("address")}
	case len(link.Routes) == 0 && link.VIP == nil:
		return nil
	default:
		link.DHCP = machine.Option{Value: "true", Pos: n.Pos()}
	}
	return &link
}

// ownRoutes are the routes that a machine has for itself.
func ownRoutes(n model.Node) (routes []machine.Route) {
	for i, r := range n.Routes {
		at := func(key string) diag.Pos { return n.Pos("routes", strconv.Itoa(i), key) }
		routes = append(routes, route(machine.Option{Value: r.Destination, Pos: at("destination")}, machine.Option{Value: r.Gateway, Pos: at("gateway")}))
	}
	return routes
}

// extraRoutes are the routes that every node has.
func (c places) extraRoutes() []machine.Route {
	return each(c.config.Network.ExtraRoutes, func(r *schemas.Route) machine.Route {
		return route(c.text(&r.Destination), c.text(&r.Gateway))
	})
}

// route leaves out the destination of a default route, as Talos wants it.
func route(destination, gateway machine.Option) machine.Route {
	if to, err := netip.ParsePrefix(destination.Value); err == nil && to.Bits() == 0 {
		if gateway.Pos.Line == 0 {
			gateway.Pos = destination.Pos
		}
		destination = machine.Option{}
	}
	return machine.Route{Destination: destination, Gateway: gateway}
}
