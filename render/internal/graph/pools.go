package graph

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// pool is nodes that are alike: of one pool, in one subnet, of one type.
type pool struct {
	name   string
	role   string
	subnet string // the range that their addresses are in; empty for machines of a static environment
	kind   string // of server; of machines, their disk
	where  string
	public string // which public addresses they have
	disks  string // the volumes that each of them has
	labels map[string]string
	nodes  []node
}

type node struct {
	name    string
	address string
	volumes []string // their names
}

func (p pool) id() string {
	return strings.Join([]string{"pool", p.role, p.name, p.subnet, p.kind, p.where, p.public, p.disks}, "/")
}

// poolsOfServers gathers the nodes among servers, in the order of their names.
func poolsOfServers(infra schemas.Infrastructure) []pool {
	var all []pool
	for _, s := range infra.Servers {
		if s.Role == schemas.RoleNATGateway {
			continue
		}
		all = gather(all, pool{
			name: s.Pool, role: s.Role, subnet: subnetOf(infra.Network, s.PrivateIP), kind: oneOf(s.Types),
			where: oneOf(s.Locations), public: publicAddresses(s.PublicIPv4, s.PublicIPv6), disks: volumesOf(s), labels: s.Labels,
		}, node{s.Name, s.PrivateIP, namesOf(s.Volumes)})
	}
	return sorted(all)
}

// poolsOfMachines gathers the machines that exist already.
func poolsOfMachines(infra schemas.Infrastructure) []pool {
	var all []pool
	for _, m := range infra.Machines {
		address, _, _ := strings.Cut(cmp.Or(m.Address, m.BootAddress), "/")
		if m.PrivateIP != "" {
			address = m.PrivateIP
		}
		all = gather(all, pool{name: m.Pool, role: m.Role, kind: m.InstallDisk, subnet: subnetOf(infra.Network, m.PrivateIP)}, node{name: m.Name, address: address})
	}
	return sorted(all)
}

func gather(all []pool, p pool, n node) []pool {
	i := slices.IndexFunc(all, func(q pool) bool { return q.id() == p.id() })
	if i < 0 {
		i, all = len(all), append(all, p)
	}
	all[i].nodes = append(all[i].nodes, n)
	return all
}

func sorted(all []pool) []pool {
	for _, p := range all {
		sorting.By(p.nodes, func(a, b node) int { return natural.Compare(a.name, b.name) })
	}
	return all
}

// oneOf names the first of several that are tried, and that there are more.
func oneOf(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return fmt.Sprintf("%s or %s", all[0], strings.Join(all[1:], " or "))
}

func publicAddresses(v4, v6 bool) string {
	switch {
	case v4 && v6:
		return "public IPv4 and IPv6"
	case v4:
		return "public IPv4"
	case v6:
		return "public IPv6"
	}
	return "no public address"
}

// volumesOf says which volumes a server has, by the names that they have on it.
func volumesOf(s schemas.InfraServer) string {
	var each []string
	for _, v := range s.Volumes {
		each = append(each, fmt.Sprintf("%s %d GB", strings.TrimPrefix(v.Name, s.Name+"-"), v.Size))
	}
	if len(each) == 0 {
		return ""
	}
	return "volumes: " + strings.Join(each, ", ")
}

func namesOf(volumes []schemas.InfraVolume) (names []string) {
	for _, v := range volumes {
		names = append(names, v.Name)
	}
	return names
}

// subnetOf is the range of the subnet that an address is in; empty if there is
// none.
func subnetOf(network *schemas.InfraNetwork, address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || network == nil {
		return ""
	}
	for _, s := range network.Subnets {
		if prefix, err := netip.ParsePrefix(s.IPRange); err == nil && prefix.Contains(ip) {
			return s.IPRange
		}
	}
	return ""
}

// mostNodes is how many nodes of a pool a card lists; of more it shows the
// first and the last.
const mostNodes = 4

func (p pool) card() Card {
	c := Card{ID: p.id(), Kind: Worker, Title: cmp.Or(p.name, p.role)}
	if p.role == schemas.RoleControlPlane {
		c.Kind = ControlPlane
	}
	for _, n := range p.nodes {
		c.Objects = append(c.Objects, serverKey(n.name))
		for _, v := range n.volumes {
			c.Objects = append(c.Objects, volumeKey(v))
		}
	}
	switch {
	case p.where == "": // machines
		c.Lines = append(c.Lines, Line{natural.Count(len(p.nodes), "machine"), p.kind})
	default:
		c.Lines = append(c.Lines, Line{fmt.Sprintf("%d × %s", len(p.nodes), p.kind), p.where}, Line{Left: p.public})
	}
	if p.disks != "" {
		c.Lines = append(c.Lines, Line{Left: p.disks})
	}
	if n := len(p.nodes); n > mostNodes {
		first, last := p.nodes[0], p.nodes[n-1]
		c.Lines = append(c.Lines, Line{first.name, first.address}, Line{Left: fmt.Sprintf("… %d more", n-2)}, Line{last.name, last.address})
		return c
	}
	for _, n := range p.nodes {
		c.Lines = append(c.Lines, Line{n.name, n.address})
	}
	return c
}
