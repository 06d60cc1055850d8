package options

import (
	"net/netip"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/subst"
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

// servers makes the links of servers of Hetzner Cloud.
type servers struct {
	places
	env   string
	scope *subst.Scope
	facts *config.Facts // nil if nothing is known
}

// links are those of a server of Hetzner Cloud. Addresses come from
// DHCP, public IPv6 ones from Hetzner's metadata, which Talos reads.
func (c servers) links(role string) ([]machine.Link, error) {
	n := &c.config.Network
	var links []machine.Link
	private := machine.Link{Name: c.said(firstLink, n)}
	if n.PublicIPv4 || n.PublicIPv6 {
		public := machine.Link{Name: c.said(firstLink, n)}
		public.Up = c.said("true", &n.PublicIPv6)
		public.DHCP = c.on(&n.PublicIPv4)
		public.Routes = c.metadataRoute()
		links = append(links, public)
		private.Name.Value = secondLink
	}
	private.Up, private.DHCP = c.said("true", &n.CIDR), c.said("true", &n.CIDR)
	private.MTU = c.number(&n.MTU)
	gateway, err := c.config.Ranges().Gateway()
	if err != nil {
		return nil, diag.New(c.config.NearField(&n.CIDR), "%v", err)
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
func (c servers) privateRoutes(gateway netip.Addr) []machine.Route {
	n := &c.config.Network
	var routes []machine.Route
	if !n.PublicIPv4 && *n.NATGateway.Enabled {
		by := c.said(gateway.String(), &n.PublicIPv4)
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
func (c servers) metadataRoute() []machine.Route {
	for _, r := range c.extraRoutes() {
		if gateway, err := netip.ParseAddr(r.Gateway.Value); c.config.Network.PublicIPv4 && r.Destination.Value == "" && (err != nil || gateway.Is4()) {
			at := func(value string) machine.Option { return machine.Option{Value: value, Pos: r.Gateway.Pos} }
			return []machine.Route{{Destination: at(metadataService), Gateway: at(publicRouter)}}
		}
	}
	return nil
}

// tokenVariable is the secret variable that holds the token of Hetzner Cloud.
const tokenVariable = "HCLOUD_TOKEN"

// privateVIP is the address that control planes share in the private network.
func (c servers) privateVIP(role string) (*machine.VIP, error) {
	option := &c.config.Cluster.Nodes.ControlPlane.PrivateVIP
	if role != config.ControlPlane || !**option {
		return nil, nil
	}
	pos := c.config.NearField(option)
	address, err := c.config.Subnets().ControlPlaneVIP()
	if err != nil {
		return nil, diag.New(pos, "the virtual IP of the control planes: %v", err)
	}
	return c.cloudVIP(address.String(), pos)
}

// floatingIP is the public address that control planes share. It is known when
// apply has made it, and facts.yaml says so.
func (c servers) floatingIP(role string) (*machine.VIP, error) {
	option := &c.config.Cluster.Nodes.ControlPlane.FloatingIP
	if role != config.ControlPlane || !*option || c.facts == nil {
		return nil, nil
	}
	for _, f := range c.facts.Addresses {
		if f.Kind == schemas.TargetFloatingIP && f.IPv4 != "" {
			return c.cloudVIP(f.IPv4, c.config.NearField(option))
		}
	}
	return nil, nil
}

// cloudVIP is an address that nodes move by Hetzner's API.
func (c servers) cloudVIP(address string, pos diag.Pos) (*machine.VIP, error) {
	token, ok := c.scope.Lookup(tokenVariable)
	switch {
	case !ok:
		return nil, diag.New(pos, "control planes move the address that they share by Hetzner's API, and there is no secret variable %s", tokenVariable).
			WithHint("`talosgen secrets edit %s` adds one under variables:; or have an endpoint or a load balancer, and privateVip: false", c.env).WithCode(diag.Secrets)
	case !token.Secret:
		return nil, diag.New(token.Pos, "%s is readable for everyone", tokenVariable).
			WithHint("`talosgen secrets edit %s` adds it under variables:; if it was ever committed, replace it", c.env).WithCode(diag.Secrets)
	}
	return &machine.VIP{
		Address: machine.Option{Value: address, Pos: pos},
		Token:   &machine.SecretOption{Value: secret.New(token.Value), Pos: pos},
	}, nil
}
