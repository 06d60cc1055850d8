package infra

import (
	"bytes"
	_ "embed" // for the template
	"net/netip"
	"strings"
	"text/template"

	"github.com/talosgen/talosgen/schemas"
)

const (
	natGateway    = "nat-gateway"
	secondGateway = "nat-gateway-2"
	// natImage is an image of Hetzner's own, which every location has.
	natImage = "debian-13"
	// everywhere is where the network's route to the gateway leads to.
	everywhere = "0.0.0.0/0"
)

// natGateway resolves the servers through which nodes without public addresses
// reach the world, and people reach them: with a route of the network to one of
// them, and a firewall that lets in SSH only.
func (r networkResolver) natGateway() {
	gw := r.c.Network.NATGateway
	if !*gw.Enabled {
		return
	}
	name, second := r.name(natGateway), ""
	address := r.gatewayServer(name, gw.Location, r.c.Subnets().NATGateway)
	r.out.Firewalls = append(r.out.Firewalls, schemas.InfraFirewall{
		Name: name, Labels: r.labels(labelComponent, natGateway), ApplyTo: r.selector(labelRole, natGateway),
		Rules: appendRule(nil, "SSH", "tcp", sshPort, gw.SSHSource),
	})
	route := schemas.InfraRoute{Destination: everywhere, Gateway: address}
	if gw.Standby.Enabled {
		second = r.name(secondGateway)
		route.Standby = r.gatewayServer(second, gw.Standby.Location, r.c.Subnets().StandbyGateway)
	}
	r.out.Network.Routes = append(r.out.Network.Routes, route)
	if !r.c.Network.PublicIPv4 && !r.c.Network.PublicIPv6 || r.c.Access == "private" {
		r.out.Access.Jump, r.out.Access.JumpStandby, r.out.Access.JumpSession = name, second, len(gw.SSHSource) == 0
	}
}

// gatewayServer adds a NAT gateway, and returns its private address.
func (r networkResolver) gatewayServer(name, location string, place func() (netip.Addr, error)) string {
	gw := r.c.Network.NATGateway
	address, err := place()
	if err != nil {
		r.fail("network.natGateway", "", "the NAT gateway: %v", err)
		return ""
	}
	userData, err := r.natUserData()
	if err != nil {
		r.fail("network.natGateway", "", "the NAT gateway: %v", err)
		return ""
	}
	r.out.Servers = append(r.out.Servers, schemas.InfraServer{
		Name: name, Role: natGateway, Types: []string{gw.Type}, Locations: []string{location},
		Image:     schemas.InfraImage{Name: natImage, Architecture: architecture(gw.Type)},
		PrivateIP: address.String(), PublicIPv4: true, PublicIPv6: true,
		SSHKeys: r.c.Hetzner.SSHKeys, Labels: r.labels(labelRole, natGateway, labelComponent, natGateway),
		Protected: r.c.DeleteProtection, UserData: userData, HostKey: r.HostKey,
		ReverseDNS: r.reverseDNS(subject{hostname: name, role: natGateway}, true, true),
	})
	return address.String()
}

//go:embed natgateway.cloudinit.tmpl
var natTemplate string

// natUserData makes the NAT gateway forward packets, also after a restart, and
// gives it the SSH host key that apply knows.
func (r networkResolver) natUserData() (string, error) {
	t, err := template.New(natGateway).Parse(natTemplate)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct{ Network, HostKeyMarker, HostKey string }{
		r.c.Ranges().Network.String(), schemas.HostKeyMarker, strings.TrimSpace(r.HostKey),
	})
	return b.String(), err
}
