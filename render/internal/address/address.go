// Package address is the address plan of a cluster on Hetzner Cloud: which
// ranges and subnets its network has, and which address in them is whose. It is
// pure.
//
// The plan follows the one of hcloud-k8s/terraform-hcloud-kubernetes 5.6, which
// people migrate from: a network is cut into ranges for nodes, services and
// pods, and the range of the nodes into equal subnets, each with as many
// addresses as the pod range has networks for nodes.
package address

import (
	"cmp"
	"fmt"
	"net/netip"
)

// Ranges are the address ranges of a cluster's network.
type Ranges struct {
	Network  netip.Prefix
	Nodes    netip.Prefix
	Services netip.Prefix
	Pods     netip.Prefix // a /24 for each node
	// SubnetBits is the prefix length of the subnets that the range of the
	// nodes is divided into; 0 for as many addresses as Pods has networks.
	SubnetBits int
}

// widestServices is the prefix of the widest service range: Kubernetes allows
// 20 bits of addresses.
const widestServices = 12

// ResolveRanges fills in the ranges that are not given (zero): for a network
// 10.0.0.0/16, nodes 10.0.64.0/19, services 10.0.96.0/19, pods 10.0.128.0/17.
func ResolveRanges(r Ranges) (Ranges, error) {
	var err error
	if !r.Nodes.IsValid() {
		if r.Nodes, err = subnet(r.Network, 3, 2); err != nil {
			return r, fmt.Errorf("the range of the nodes: %w", err)
		}
	}
	if !r.Services.IsValid() {
		if r.Services, err = subnet(r.Network, 3, 3); err != nil {
			return r, fmt.Errorf("the range of the services: %w", err)
		}
		if r.Services.Bits() < widestServices {
			r.Services = netip.PrefixFrom(r.Services.Addr(), widestServices)
		}
	}
	if !r.Pods.IsValid() {
		if r.Pods, err = subnet(r.Network, 1, 1); err != nil {
			return r, fmt.Errorf("the range of the pods: %w", err)
		}
	}
	return r, nil
}

// SmallestSubnet is the prefix of the smallest subnet that has an address for a
// node beside those that are not a node's.
const SmallestSubnet = 29

// Subnets are the subnets of the node range that every cluster has.
type Subnets struct {
	ControlPlane  netip.Prefix
	LoadBalancers netip.Prefix
	Workers       netip.Prefix // shared by all pools that have no subnet of their own
	Autoscaler    netip.Prefix // for servers that the autoscaler makes
	BareMetal     netip.Prefix // behind a vSwitch
}

// ResolveSubnets cuts the node range: its lower half for control plane, load
// balancers and pinned pools, its upper half for workers, autoscaled servers
// and bare metal. For nodes 10.0.64.0/19 and pods 10.0.128.0/17: control plane
// 10.0.64.0/25, load balancers 10.0.64.128/25, workers 10.0.80.0/25, autoscaler
// 10.0.80.128/25, bare metal 10.0.88.0/25. A subnet may not start at the first
// address of the network, which is its gateway: then the lower half starts with
// its second subnet.
func ResolveSubnets(r Ranges) (Subnets, error) {
	length := cmp.Or(r.SubnetBits, 32-(24-r.Pods.Bits()))
	bits := length - r.Nodes.Bits() - 1
	switch {
	case r.Pods.Bits() > 24:
		return Subnets{}, fmt.Errorf("the pod range %s is smaller than the /24 that each node takes", r.Pods)
	case bits < 1 || length > SmallestSubnet:
		return Subnets{}, fmt.Errorf("the node range %s cannot be cut into subnets with a /%d", r.Nodes, length)
	}
	internal, err := subnet(r.Nodes, 1, 0)
	if err != nil {
		return Subnets{}, err
	}
	workers, err := subnet(r.Nodes, 1, 1)
	if err != nil {
		return Subnets{}, err
	}
	first := 0
	if r.Nodes.Masked().Addr() == r.Network.Masked().Addr() {
		first = 1
	}
	var s Subnets
	for _, part := range []struct {
		to   *netip.Prefix
		of   netip.Prefix
		n    int
		bits int
	}{
		{&s.ControlPlane, internal, first, bits},
		{&s.LoadBalancers, internal, first + 1, bits},
		{&s.Workers, workers, 0, bits},
		{&s.Autoscaler, workers, 1, bits},
		{&s.BareMetal, workers, 1 << (bits - 1), bits},
	} {
		if *part.to, err = subnet(part.of, part.bits, part.n); err != nil {
			return Subnets{}, err
		}
	}
	return s, nil
}

// Offsets, counted from the end of a subnet, of addresses that are not a
// node's.
const (
	vipOffset         = -2 // private virtual IP, in the control plane's subnet
	apiLoadBalancer   = -2 // in the load balancers' subnet
	natGateway        = -3
	standbyGateway    = -4
	firstPoolBalancer = -5 // of ingress pools, downwards
)

// ControlPlaneVIP is the private virtual IP of the Kubernetes API.
func (s Subnets) ControlPlaneVIP() (netip.Addr, error) { return host(s.ControlPlane, vipOffset) }

// APILoadBalancer is the private address of the Kubernetes API's load balancer.
func (s Subnets) APILoadBalancer() (netip.Addr, error) {
	return host(s.LoadBalancers, apiLoadBalancer)
}

// NATGateway is the private address of the NAT gateway.
func (s Subnets) NATGateway() (netip.Addr, error) { return host(s.LoadBalancers, natGateway) }

// StandbyGateway is the private address of the second NAT gateway.
func (s Subnets) StandbyGateway() (netip.Addr, error) { return host(s.LoadBalancers, standbyGateway) }

// IngressPool is the private address of a load balancer in an ingress pool, by
// its number over all pools, from 0.
func (s Subnets) IngressPool(n int) (netip.Addr, error) {
	if room := Room(s.LoadBalancers) + 1; n >= room {
		return netip.Addr{}, fmt.Errorf("the subnet %s has addresses for %d of them", s.LoadBalancers, room)
	}
	return host(s.LoadBalancers, firstPoolBalancer-n)
}

// Room is how many nodes a subnet has addresses for.
func Room(in netip.Prefix) int { return 1<<(32-in.Bits()) + firstPoolBalancer - 1 }

// OfNode is the address of a node: its pool's offset in the subnet plus its
// index, from 1. It depends on nothing else, so it never moves.
func OfNode(in netip.Prefix, offset, index int) (netip.Addr, error) {
	n := offset + index + 1 // 0 is the network, 1 kept free as hcloud-k8s does
	if index < 1 || offset < 0 || n > Room(in)+1 {
		return netip.Addr{}, fmt.Errorf("the subnet %s has no address for offset %d and index %d", in, offset, index)
	}
	return host(in, n)
}

// Gateway is the address by which Hetzner routes a network: its first one.
func (r Ranges) Gateway() (netip.Addr, error) { return host(r.Network, 1) }
