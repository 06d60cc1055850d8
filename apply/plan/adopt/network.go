package adopt

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// networks describes the private network.
type networks struct{ *mapper }

func (m networks) describe() {
	m.find()
	if m.net == nil {
		return
	}
	for _, n := range m.members {
		m.locate(n)
	}
	if len(m.problems) > 0 {
		return
	}
	m.option("network.cidr", m.net.IPRange)
	m.owner()
	m.subnets()
	m.public()
}

// find looks for the network that all nodes are in.
func (m networks) find() {
	for i := range m.Project.Networks {
		net := &m.Project.Networks[i]
		all := !slices.ContainsFunc(m.members, func(n *member) bool { return addressIn(n.server.PrivateNets, net.ID) == "" })
		switch {
		case !all:
		case m.net != nil:
			m.refuse("network "+net.Name, "detach the nodes from the one that Kubernetes does not use", "all nodes are in it, and in the network %s", m.net.Name)
			return
		default:
			m.net = net
		}
	}
	if m.net == nil {
		m.refuse("the nodes", "talosgen's clusters in Hetzner Cloud have a private network that all of their nodes are in; clusters without one are adopted without --hcloud, as machines that exist already",
			"there is no private network that all of them are in")
	}
}

func addressIn(nets []cloud.PrivateNet, id int64) string {
	for _, n := range nets {
		if n.Network == id {
			return n.IP
		}
	}
	return ""
}

// locate finds the subnet of a node.
func (m networks) locate(n *member) {
	n.ip, _ = netip.ParseAddr(addressIn(n.server.PrivateNets, m.net.ID))
	n.subnet = m.subnetOf(n.ip)
	if n.subnet == "" {
		m.refuse("server "+n.server.Name, "", "its address %s is in no subnet of the network %s", n.ip, m.net.Name)
	}
}

func (m *mapper) subnetOf(ip netip.Addr) string {
	for _, s := range m.net.Subnets {
		if in, err := netip.ParsePrefix(s.IPRange); err == nil && in.Contains(ip) {
			return in.String()
		}
	}
	return ""
}

// owner says whose the network is: the cluster's, or one that others use too.
func (m networks) owner() {
	if why := m.shared(); why != "" {
		m.option("network.existing.id", m.net.ID)
		m.note(fmt.Sprintf("network %s is not the cluster's alone, and stays as it is: %s", m.net.Name, why))
		return
	}
	if m.net.Name != m.Cluster {
		m.option("hetzner.adopted.network", m.net.Name)
	}
}

// shared says why a network is not the cluster's alone; empty if it is.
func (m networks) shared() string {
	if other := m.net.Labels[schemas.LabelCluster]; other != "" && other != m.Cluster {
		return "it has the label cluster=" + other
	}
	if m.net.ExposeRoutesToVSwitch {
		return "a vSwitch is coupled with it"
	}
	for _, s := range m.Project.Servers {
		other := s.Labels[schemas.LabelCluster]
		if addressIn(s.PrivateNets, m.net.ID) != "" && m.matched(s.ID) == nil && s.Labels[schemas.LabelNodeGroup] == "" && other != m.Cluster {
			return "server " + s.Name + ", which is no node, is in it too"
		}
	}
	return ""
}

// subnets says in which subnets the nodes are.
func (m networks) subnets() {
	plane := ""
	for _, n := range m.members {
		if !n.ControlPlane {
			continue
		}
		if plane != "" && plane != n.subnet {
			m.refuse("server "+n.server.Name, "all control planes of a cluster are in one subnet", "it is in the subnet %s, and other control planes are in %s", n.subnet, plane)
			return
		}
		plane = n.subnet
	}
	balancers := plane
	if b := apiBalancer(m.mapper); b != nil {
		if ip, err := netip.ParseAddr(addressIn(b.PrivateNets, m.net.ID)); err == nil && m.subnetOf(ip) != "" {
			balancers = m.subnetOf(ip)
		}
	}
	m.option("network.subnets.controlPlane", plane)
	m.option("network.subnets.loadBalancers", balancers)
	m.option("network.subnets.workers", m.workerSubnet())
	m.option("network.nodeCidrs", []string{m.nodeRange(balancers)})
	if zone := m.zone(plane); zone != "" {
		m.option("hetzner.networkZone", zone)
	}
}

func (m networks) zone(subnet string) string {
	for _, s := range m.net.Subnets {
		if in, err := netip.ParsePrefix(s.IPRange); err == nil && in.String() == subnet {
			return s.NetworkZone
		}
	}
	return ""
}

// workerSubnet is the subnet of pools of workers that have none of their own.
func (m *mapper) workerSubnet() (subnet string) {
	for _, n := range m.members {
		switch {
		case !n.ControlPlane:
			return n.subnet
		case subnet == "":
			subnet = n.subnet
		}
	}
	return subnet
}

// nodeRange is a range that holds all subnets of nodes: the one that the kubelets are
// told, or else the smallest.
func (m networks) nodeRange(more string) string {
	used := []string{more}
	for _, n := range m.members {
		used = append(used, n.subnet)
	}
	var said []netip.Prefix
	for _, text := range m.NodeCIDRs {
		if p, err := netip.ParsePrefix(text); err == nil && p.Addr().Is4() {
			said = append(said, p)
		}
	}
	if len(said) == 1 && covers(said[0], used) {
		return said[0].Masked().String()
	}
	first, _ := netip.ParsePrefix(used[0])
	for bits := first.Bits(); bits >= 0; bits-- {
		if p := netip.PrefixFrom(first.Addr(), bits).Masked(); covers(p, used) {
			return p.String()
		}
	}
	return m.net.IPRange
}

func covers(p netip.Prefix, subnets []string) bool {
	return !slices.ContainsFunc(subnets, func(text string) bool {
		s, err := netip.ParsePrefix(text)
		return err != nil || s.Bits() < p.Bits() || !p.Contains(s.Addr())
	})
}

// public says which public addresses servers have: all of them, or none.
func (m networks) public() {
	counts := [2]int{}
	for _, n := range m.members {
		if n.server.PublicIPv4.IP != "" {
			counts[0]++
		}
		if n.server.PublicIPv6.IP != "" {
			counts[1]++
		}
	}
	for i, key := range []string{"publicIpv4", "publicIpv6"} {
		switch counts[i] {
		case len(m.members):
		case 0:
			m.option("network."+key, false)
		default:
			m.refuse("the servers", "give the others one too, or take it from these: a server has to be off for that", "%d of %d have a public %s address", counts[i], len(m.members), []string{"IPv4", "IPv6"}[i])
		}
	}
	if counts[0] == 0 {
		m.option("network.natGateway.enabled", false)
	}
	if counts[0]+counts[1] == 0 {
		m.option("access", "private")
	}
}
