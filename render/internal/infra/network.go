package infra

import (
	"cmp"
	"net/netip"

	"github.com/talosgen/talosgen/schemas"
)

// maxSubnets is how many subnets a network of Hetzner Cloud may have.
const maxSubnets = 50

// Types of subnets.
const (
	cloudSubnet   = "cloud"
	vswitchSubnet = "vswitch"
)

// networkResolver resolves the private network, and what leads into it.
type networkResolver struct{ *resolver }

// network resolves the private network with its subnets.
func (r networkResolver) network() {
	cfg := r.c.Network
	n := &schemas.InfraNetwork{
		Name: cmp.Or(r.c.Hetzner.Adopted.Network, r.c.ClusterName), IPRange: r.c.Ranges().Network.String(),
		Labels: r.labels(), Protected: r.c.DeleteProtection,
		ExposeRoutesToVSwitch: cfg.VSwitch.ID != 0 && cfg.VSwitch.ExposeRoutes,
	}
	if e := cfg.Existing; e.ID != 0 || e.Name != "" {
		// It is not ours to change.
		n.Existing, n.ExistingID, n.Name = true, int64(e.ID), e.Name
		n.Labels, n.Protected, n.ExposeRoutesToVSwitch = nil, false, false
	}
	n.Subnets = r.subnets()
	if len(n.Subnets) > maxSubnets {
		r.fail("nodes", "let pools share a subnet", "%d subnets; Hetzner allows %d in a network", len(n.Subnets), maxSubnets)
	}
	r.out.Network = n
}

// subnets lists the subnets that are in use: those that every cluster has, then
// those of pools, in the order of the file.
func (r networkResolver) subnets() []schemas.InfraSubnet {
	var all []schemas.InfraSubnet
	known := map[netip.Prefix]bool{}
	add := func(purpose, kind string, ipRange netip.Prefix) {
		if ipRange.IsValid() && !known[ipRange] {
			known[ipRange] = true
			all = append(all, schemas.InfraSubnet{Purpose: purpose, Type: kind, IPRange: ipRange.String(), NetworkZone: r.c.Hetzner.NetworkZone})
		}
	}
	s := r.c.Subnets()
	add("control-plane", cloudSubnet, s.ControlPlane)
	add("load-balancers", cloudSubnet, s.LoadBalancers)
	add("workers", cloudSubnet, s.Workers)
	if r.c.Autoscaler.Enabled {
		add("autoscaler", cloudSubnet, s.Autoscaler)
	}
	for _, n := range r.c.Resolve() {
		add(n.Pool, cloudSubnet, n.Subnet)
	}
	for _, p := range r.autoscalerPools() {
		add(p.Name, cloudSubnet, r.c.AutoscalerSubnet(p))
	}
	if id := r.c.Network.VSwitch.ID; id != 0 {
		add("bare-metal", vswitchSubnet, s.BareMetal)
		all[len(all)-1].VSwitchID = int64(id)
	}
	return all
}

// floatingIP resolves the public address of the Kubernetes API that moves
// between control planes.
func (r networkResolver) floatingIP() {
	cp := r.c.Cluster.Nodes.ControlPlane
	if !cp.FloatingIP {
		return
	}
	if cp.FloatingIPID != 0 {
		r.out.FloatingIPs = append(r.out.FloatingIPs, schemas.InfraFloatingIP{ExistingID: int64(cp.FloatingIPID), Type: "ipv4"})
		return
	}
	name := r.name(kubeAPI)
	r.out.FloatingIPs = append(r.out.FloatingIPs, schemas.InfraFloatingIP{
		Name: name, Type: "ipv4", Location: r.c.FirstLocation(),
		Description: "Kubernetes API of " + r.c.ClusterName,
		Labels:      r.labels(labelComponent, kubeAPI), Protected: r.c.DeleteProtection,
		ReverseDNS: r.reverseDNS(subject{hostname: name, role: kubeAPI}, true, false),
	})
}
