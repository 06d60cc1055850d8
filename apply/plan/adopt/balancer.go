package adopt

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

const kubernetesPort = 6443

// apiBalancer is a load balancer that leads to the Kubernetes API of the cluster; nil if
// there is none.
func apiBalancer(m *mapper) *cloud.LoadBalancer {
	for i := range m.Project.LoadBalancers {
		b := &m.Project.LoadBalancers[i]
		serves := slices.ContainsFunc(b.Services, func(s cloud.Service) bool { return s.DestinationPort == kubernetesPort })
		if serves && slices.ContainsFunc(m.members, func(n *member) bool { return n.ControlPlane && leads(b, n.server) }) {
			return b
		}
	}
	return nil
}

// leads reports whether a load balancer leads to a server.
func leads(b *cloud.LoadBalancer, s *cloud.Server) bool {
	return slices.ContainsFunc(b.Targets, func(t cloud.Target) bool {
		ip, err := netip.ParseAddr(t.IP)
		return t.Server == s.ID || t.Selector != "" && selects(t.Selector, s.Labels) || err == nil && (publicly(s, ip) || privately(s, ip))
	})
}

func selects(text string, labels map[string]string) bool {
	s, err := labelselector.Parse(text)
	return err == nil && s.Matches(labels)
}

// loadBalancer takes over the load balancer of the Kubernetes API, if it is as talosgen
// would make it; otherwise it stays as it is.
func (m servers) loadBalancer() {
	b := apiBalancer(m.mapper)
	if b == nil {
		return
	}
	if why := m.unlike(b); why != "" {
		m.note(fmt.Sprintf("load balancer %s is left as it is: %s", b.Name, why))
		if !slices.ContainsFunc(b.Targets, func(t cloud.Target) bool { return t.Selector != "" }) {
			m.note(fmt.Sprintf("load balancer %s leads to single servers: a new control plane is no target of it until you add it", b.Name))
		}
		return
	}
	m.balancer = b
	m.option("hetzner.apiLoadBalancer.enabled", true)
	m.option("hetzner.apiLoadBalancer.type", b.Type)
	m.option("hetzner.apiLoadBalancer.location", b.Location)
	m.option("hetzner.apiLoadBalancer.publicNetwork", b.PublicInterface)
}

// unlike says in what a load balancer is not as talosgen would make it; empty if it is.
func (m servers) unlike(b *cloud.LoadBalancer) string {
	want := []cloud.Service{{InfraService: schemas.InfraService{
		Protocol: "tcp", ListenPort: kubernetesPort, DestinationPort: kubernetesPort,
		HealthCheck: schemas.InfraHealthCheck{
			Protocol: "http", Port: kubernetesPort, Interval: 3, Timeout: 2, Retries: 2,
			Path: "/version", Response: "Status", TLS: true, StatusCodes: []string{"401"},
		},
	}}}
	selector := fmt.Sprintf("%s=%s,%s=%s", schemas.LabelCluster, m.Cluster, schemas.LabelRole, m.roleLabel())
	same := func(text string) bool {
		a, err1 := labelselector.Parse(text)
		b, err2 := labelselector.Parse(selector)
		return err1 == nil && err2 == nil && a.String() == b.String()
	}
	switch {
	case b.Name != m.Cluster+"-kube-api":
		return fmt.Sprintf("its name is not %s-kube-api", m.Cluster)
	case b.Algorithm != "round_robin":
		return "its algorithm is " + b.Algorithm
	case !reflect.DeepEqual(b.Services, want):
		return "its services and health checks are its own"
	case len(b.Targets) != 1 || !same(b.Targets[0].Selector) || !b.Targets[0].UsePrivateIP:
		return "its target is not " + selector + " by private addresses"
	case addressIn(b.PrivateNets, m.net.ID) != m.balancerAddress(b):
		return "its address in the network is its own"
	}
	return ""
}

// balancerAddress is the address that talosgen would give a load balancer of the
// Kubernetes API, in the subnet that it is in.
func (m servers) balancerAddress(b *cloud.LoadBalancer) string {
	own, err := netip.ParseAddr(addressIn(b.PrivateNets, m.net.ID))
	if err != nil {
		return "none"
	}
	in, err := netip.ParsePrefix(m.subnetOf(own))
	if err != nil {
		return "none"
	}
	last := number(in.Masked().Addr()) + 1<<(32-in.Bits()) - 2
	return netip.AddrFrom4([4]byte{byte(last >> 24), byte(last >> 16), byte(last >> 8), byte(last)}).String()
}
