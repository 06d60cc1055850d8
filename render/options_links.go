package render

import (
	"net/netip"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/schemas"
)

// Links of servers of Hetzner Cloud: the first one is that of the public
// addresses, if there are any.
const (
	firstLink  = "eth0"
	secondLink = "eth1"
)

// privateMetric puts routes of the private network before those that DHCP gives,
// which have 1024.
const privateMetric = "512"

// serverLinks are the links of a server of Hetzner Cloud. Addresses come from
// DHCP, public IPv6 ones from Hetzner's metadata, which Talos reads.
func (c *compiler) serverLinks(role string) ([]machine.Link, error) {
	n := c.config.Network
	var links []machine.Link
	private := machine.Link{Name: machine.Option{Value: firstLink, Pos: c.config.Pos("network")}}
	if n.PublicIPv4 || n.PublicIPv6 {
		public := machine.Link{Name: machine.Option{Value: firstLink, Pos: c.config.Pos("network")}}
		public.Up = machine.Option{Value: "true", Pos: c.config.Pos("network", "publicIpv6")}
		public.DHCP = c.truth(n.PublicIPv4, keys("network.publicIpv4")...)
		public.Routes = c.metadataRoute()
		links = append(links, public)
		private.Name.Value = secondLink
	}
	private.Up, private.DHCP = c.option("true", keys("network.cidr")...), c.option("true", keys("network.cidr")...)
	private.MTU = c.option(strconv.Itoa(n.MTU), keys("network.mtu")...)
	gateway, err := c.config.Ranges().Gateway()
	if err != nil {
		return nil, diag.New(c.config.Near("network.cidr"), "%v", err)
	}
	private.Routes = c.privateRoutes(gateway)
	var problems diag.List
	private.VIP, err = c.privateVIP(role)
	problems.AddErr(err)
	if n.PublicIPv4 {
		links[0].VIP, err = c.floatingIP(role)
		problems.AddErr(err)
	}
	return append(links, private), problems.Err()
}

// privateRoutes are the routes of the private network, all of which lead over
// Hetzner's router. Nodes behind a NAT gateway have their default route there.
func (c *compiler) privateRoutes(gateway netip.Addr) []machine.Route {
	n := c.config.Network
	var routes []machine.Route
	if !n.PublicIPv4 && *n.NATGateway.Enabled {
		by := c.option(gateway.String(), "network", "publicIpv4")
		routes = append(routes, machine.Route{Gateway: by, Metric: machine.Option{Value: privateMetric, Pos: by.Pos}})
	}
	for _, r := range c.extraRoutes() {
		if r.Gateway.Value == "" {
			r.Gateway = machine.Option{Value: gateway.String(), Pos: r.Destination.Pos}
		}
		r.Metric = machine.Option{Value: privateMetric, Pos: r.Gateway.Pos}
		routes = append(routes, r)
	}
	return routes
}

// Hetzner's metadata service, and the router of its public IPv4 addresses.
const (
	metadataService = "169.254.169.254/32"
	publicRouter    = "172.31.1.1"
)

// metadataRoute keeps the metadata service reachable where a default route of
// the user's leads into the private network, which does not have it.
func (c *compiler) metadataRoute() []machine.Route {
	for _, r := range c.extraRoutes() {
		if gateway, err := netip.ParseAddr(r.Gateway.Value); c.config.Network.PublicIPv4 && r.Destination.Value == "" && (err != nil || gateway.Is4()) {
			at := func(value string) machine.Option { return machine.Option{Value: value, Pos: r.Gateway.Pos} }
			return []machine.Route{{Destination: at(metadataService), Gateway: at(publicRouter)}}
		}
	}
	return nil
}

// extraRoutes are the routes that every node has.
func (c *compiler) extraRoutes() []machine.Route {
	var routes []machine.Route
	for i, r := range c.config.Network.ExtraRoutes {
		at := item("network.extraRoutes", i)
		routes = append(routes, route(c.option(r.Destination, keys(at+".destination")...), c.option(r.Gateway, keys(at+".gateway")...)))
	}
	return routes
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

// tokenVariable is the secret variable that holds the token of Hetzner Cloud.
const tokenVariable = "HCLOUD_TOKEN"

// privateVIP is the address that control planes share in the private network.
func (c *compiler) privateVIP(role string) (*machine.VIP, error) {
	const option = "nodes.controlPlane.privateVip"
	if role != config.ControlPlane || !*c.config.Cluster.Nodes.ControlPlane.PrivateVIP {
		return nil, nil
	}
	pos := c.config.Near(option)
	address, err := c.config.Subnets().ControlPlaneVIP()
	if err != nil {
		return nil, diag.New(pos, "the virtual IP of the control planes: %v", err)
	}
	return c.cloudVIP(address.String(), pos)
}

// floatingIP is the public address that control planes share. It is known when
// apply has made it, and facts.yaml says so.
func (c *compiler) floatingIP(role string) (*machine.VIP, error) {
	if role != config.ControlPlane || !c.config.Cluster.Nodes.ControlPlane.FloatingIP || c.facts == nil {
		return nil, nil
	}
	for _, f := range c.facts.Addresses {
		if f.Kind == schemas.TargetFloatingIP && f.IPv4 != "" {
			return c.cloudVIP(f.IPv4, c.config.Near("nodes.controlPlane.floatingIp"))
		}
	}
	return nil, nil
}

// cloudVIP is an address that nodes move by Hetzner's API.
func (c *compiler) cloudVIP(address string, pos diag.Pos) (*machine.VIP, error) {
	token, ok := c.scope.Lookup(tokenVariable)
	switch {
	case !ok:
		return nil, diag.New(pos, "control planes move the address that they share by Hetzner's API, and there is no secret variable %s", tokenVariable).
			WithHint("`talosgen secrets edit %s` adds one under variables:; or have an endpoint or a load balancer, and privateVip: false", c.name).WithCode(diag.Secrets)
	case !token.Secret:
		return nil, diag.New(token.Pos, "%s is readable for everyone", tokenVariable).
			WithHint("`talosgen secrets edit %s` adds it under variables:; if it was ever committed, replace it", c.name).WithCode(diag.Secrets)
	}
	return &machine.VIP{
		Address: machine.Option{Value: address, Pos: pos},
		Token:   &machine.SecretOption{Value: secret.New(token.Value), Pos: pos},
	}, nil
}

// staticLink is the link of a machine that exists already; nil if there is
// nothing to say about it.
func (c *compiler) staticLink(n node) *machine.Link {
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
	for i, r := range n.Routes {
		at := func(key string) diag.Pos { return n.Pos("routes", strconv.Itoa(i), key) }
		link.Routes = append(link.Routes, route(machine.Option{Value: r.Destination, Pos: at("destination")}, machine.Option{Value: r.Gateway, Pos: at("gateway")}))
	}
	link.Routes = append(link.Routes, c.extraRoutes()...)
	if vip := c.config.Cluster.Nodes.ControlPlane.VIP; vip != "" && n.Node.Role == config.ControlPlane {
		link.VIP = &machine.VIP{Address: c.option(vip, keys("nodes.controlPlane.vip")...)}
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
