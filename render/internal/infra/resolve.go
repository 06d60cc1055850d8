package infra

import (
	"fmt"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Resolve computes the desired state of Hetzner Cloud. All problems are
// reported together.
func Resolve(in Input) (*schemas.Infrastructure, error) {
	ranges, err := ResolveRanges(in.Ranges)
	if err != nil {
		return nil, diag.On("infrastructure", "%v", err)
	}
	in.Ranges = ranges
	subnets, err := ResolveSubnets(ranges)
	if err != nil {
		return nil, diag.On("infrastructure", "%v", err)
	}
	r := &resolver{in: &in, subnets: subnets, out: &schemas.Infrastructure{
		APIVersion: schemas.ClusterVersion, Cluster: in.Cluster, Provider: schemas.Hetzner,
	}}
	r.network()
	r.out.Firewalls = in.firewalls()
	r.apiBalancer()
	r.checkBalancer()
	r.ingressBalancers()
	r.floatingIP()
	if r.userData, err = in.userData(); err != nil {
		return nil, err
	}
	r.servers()
	r.checkServers()
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return r.out, nil
}

type resolver struct {
	in       *Input
	subnets  Subnets
	userData string // of nodes without public addresses
	out      *schemas.Infrastructure
	problems diag.List
}

// network resolves the private network with its subnets.
func (r *resolver) network() {
	n := &schemas.InfraNetwork{
		Name: r.in.Cluster, ExistingID: r.in.ExistingNetwork, IPRange: r.in.Ranges.Network.String(),
		Labels: r.in.labels(), Protected: r.in.DeleteProtection, Routes: r.in.ExtraRoutes,
	}
	if r.in.ExistingNetwork != 0 {
		n.Labels, n.Protected = nil, false // it is not ours to change
	}
	add := func(purpose, kind, ipRange string) {
		n.Subnets = append(n.Subnets, schemas.InfraSubnet{Purpose: purpose, Type: kind, IPRange: ipRange, NetworkZone: r.in.NetworkZone})
	}
	add("control-plane", "cloud", r.subnets.ControlPlane.String())
	add("load-balancers", "cloud", r.subnets.LoadBalancers.String())
	add("workers", "cloud", r.subnets.Workers.String())
	if r.in.Autoscaled {
		add("autoscaler", "cloud", r.subnets.Autoscaler.String())
	}
	for _, pool := range r.in.Pools {
		if pool.Subnet.IsValid() {
			add(pool.Name, "cloud", pool.Subnet.String())
		}
	}
	if r.in.VSwitchID != 0 {
		add("bare-metal", "vswitch", r.subnets.BareMetal.String())
		n.Subnets[len(n.Subnets)-1].VSwitchID = r.in.VSwitchID
	}
	if len(n.Subnets) > maxSubnets {
		r.problems.Add(diag.On("infrastructure", "%d subnets; Hetzner allows %d in a network", len(n.Subnets), maxSubnets))
	}
	r.out.Network = n
}

// floatingIP resolves the public virtual IP of the Kubernetes API.
func (r *resolver) floatingIP() {
	if !r.in.FloatingIP {
		return
	}
	r.out.FloatingIPs = append(r.out.FloatingIPs, schemas.InfraFloatingIP{
		Name: r.in.name("kube-api"), Type: "ipv4", Location: r.in.Location,
		Description: fmt.Sprintf("Kubernetes API of %s", r.in.Cluster),
		Labels:      r.in.labels(labelComponent, "kube-api"), Protected: r.in.DeleteProtection,
		ReverseDNS: schemas.InfraReverseDNS{IPv4: r.in.RDNS.IPv4},
	})
}
