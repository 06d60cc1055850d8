package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// network draws the private network, a row for each subnet. What leads into the
// cluster is on top.
func (b *builder) network() {
	n := b.infra.Network
	if n == nil {
		return
	}
	g := Group{Title: "network " + cmp.Or(n.Name, fmt.Sprint(n.ExistingID)), Subtitle: n.IPRange}
	if n.Existing {
		g.Subtitle += ", exists already"
	}
	elsewhere := Row{ID: "subnet/", Title: "other addresses", Cards: b.inSubnet("")}
	var empty []Row
	for _, s := range n.Subnets {
		row := Row{ID: "subnet/" + s.IPRange, Title: s.Purpose, Subtitle: s.IPRange, Cards: b.inSubnet(s.IPRange)}
		switch {
		case len(row.Cards) == 0:
			row.Subtitle += ", empty"
			empty = append(empty, row)
		case s.Purpose == "load-balancers":
			g.Rows = slices.Insert(g.Rows, 0, row)
		default:
			g.Rows = append(g.Rows, row)
		}
	}
	if len(elsewhere.Cards) > 0 {
		g.Rows = append(g.Rows, elsewhere)
	}
	g.Rows = append(g.Rows, empty...)
	b.picture.Groups = append(b.picture.Groups, g)
}

// inSubnet are the cards of what has its address in a subnet.
func (b *builder) inSubnet(ipRange string) (cards []Card) {
	for _, l := range b.infra.LoadBalancers {
		if subnetOf(b.infra.Network, l.PrivateIP) == ipRange {
			cards = append(cards, loadBalancer(l))
		}
	}
	for _, s := range b.infra.Servers {
		if s.Role == schemas.RoleNATGateway && subnetOf(b.infra.Network, s.PrivateIP) == ipRange {
			cards = append(cards, b.natGateway(s))
		}
	}
	if ip := b.infra.KubernetesAPI.VirtualIP; ip != "" && subnetOf(b.infra.Network, ip) == ipRange {
		cards = append(cards, sharedAddress(ip))
	}
	for _, p := range b.pools {
		if p.subnet == ipRange {
			cards = append(cards, p.card())
		}
	}
	for _, p := range b.infra.AutoscalerPools {
		if p.IPRange == ipRange {
			cards = append(cards, autoscalerPool(p))
		}
	}
	return cards
}

func loadBalancer(l schemas.InfraLoadBalancer) Card {
	public := "no public address"
	if l.PublicInterface {
		public = "public addresses"
	}
	c := Card{ID: balancerID(l), Objects: []string{balancerID(l)}, Kind: LoadBalancer, Title: l.Name, Lines: []Line{{l.Type, l.Location}, {Left: public}, {"private", l.PrivateIP}}}
	var ports []string
	for _, s := range l.Services {
		ports = append(ports, fmt.Sprintf("%d/%s", s.ListenPort, s.Protocol))
	}
	if len(ports) > 0 {
		c.Lines = append(c.Lines, Line{Left: strings.Join(shortened(ports), ", ")})
	}
	return c
}

func balancerID(l schemas.InfraLoadBalancer) string { return "load-balancer/" + l.Name }

func (b *builder) natGateway(s schemas.InfraServer) Card {
	c := Card{ID: gatewayID(s), Objects: []string{serverKey(s.Name)}, Kind: NATGateway, Title: s.Name, Lines: []Line{
		{oneOf(s.Types), oneOf(s.Locations)}, {Left: publicAddresses(s.PublicIPv4, s.PublicIPv6)}, {"private", s.PrivateIP},
	}}
	for _, r := range b.infra.Network.Routes {
		switch s.PrivateIP {
		case r.Gateway:
			c.Lines = append(c.Lines, Line{"route", r.Destination})
		case r.Standby:
			c.Lines = append(c.Lines, Line{"stands by", r.Destination})
		}
	}
	return c
}

func gatewayID(s schemas.InfraServer) string { return "nat-gateway/" + s.Name }

const sharedID = "shared-address"

func sharedAddress(ip string) Card {
	return Card{ID: sharedID, Kind: SharedIP, Title: ip, Lines: []Line{{Left: "moves between control planes"}}}
}

func autoscalerPool(p schemas.InfraAutoscalerPool) Card {
	return Card{ID: scalerID(p), Kind: Autoscaler, Title: p.Name, Lines: []Line{
		{fmt.Sprintf("%d to %d × %s", p.Min, p.Max, p.Type), p.Location}, {Left: publicAddresses(p.PublicIPv4, p.PublicIPv6)},
	}}
}

func scalerID(p schemas.InfraAutoscalerPool) string { return "autoscaler/" + p.Group }

// machines draws the machines of a static environment, a row for each role.
func (b *builder) machines() {
	g := Group{Title: "machines", Subtitle: "exist already"}
	for _, r := range []struct{ role, title string }{
		{schemas.RoleControlPlane, "control planes"}, {schemas.RoleWorker, "workers"},
	} {
		row := Row{ID: "machines/" + r.role, Title: r.title}
		if ip := b.infra.KubernetesAPI.VirtualIP; ip != "" && r.role == schemas.RoleControlPlane {
			row.Cards = append(row.Cards, sharedAddress(ip))
		}
		for _, p := range b.pools {
			if p.role == r.role {
				row.Cards = append(row.Cards, p.card())
			}
		}
		if len(row.Cards) > 0 {
			g.Rows = append(g.Rows, row)
		}
	}
	b.picture.Groups = append(b.picture.Groups, g)
}
