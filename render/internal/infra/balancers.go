package infra

import (
	"maps"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

// kubeAPI is the component that people reach the Kubernetes API by.
const kubeAPI = "kube-api"

// balancerResolver resolves load balancers.
type balancerResolver struct{ *resolver }

// apiBalancer is the load balancer of the Kubernetes API. Its health check asks
// for the version over TLS and takes the answer 401 for health: a TCP check
// would not notice an API server that hangs.
func (r balancerResolver) apiBalancer() {
	lb := r.c.Hetzner.APILoadBalancer
	if !lb.Enabled {
		return
	}
	address, err := r.c.Subnets().APILoadBalancer()
	if err != nil {
		r.fail("network", "", "the load balancer of the Kubernetes API: %v", err)
		return
	}
	name := r.name(kubeAPI)
	r.out.LoadBalancers = append(r.out.LoadBalancers, schemas.InfraLoadBalancer{
		Name: name, Type: lb.Type, Location: lb.Location, Algorithm: "round_robin",
		Labels: r.labels(labelComponent, kubeAPI), Protected: r.c.DeleteProtection,
		PrivateIP: address.String(), PublicInterface: *lb.PublicNetwork,
		Services: []schemas.InfraService{{
			Protocol: "tcp", ListenPort: kubernetesPort, DestinationPort: kubernetesPort,
			HealthCheck: schemas.InfraHealthCheck{
				Protocol: "http", Port: kubernetesPort, Interval: 3, Timeout: 2, Retries: 2,
				Path: "/version", Response: "Status", TLS: true, StatusCodes: []string{"401"},
			},
		}},
		Targets:    []string{r.selector(labelRole, r.roleLabel(config.ControlPlane))},
		ReverseDNS: r.reverseDNS(subject{hostname: name, role: kubeAPI}, *lb.PublicNetwork, *lb.PublicNetwork),
	})
}

const ingress = "ingress"

// ingressBalancers resolves the load balancers of ingress pools.
func (r balancerResolver) ingressBalancers() {
	number, dedicated := 0, r.dedicatedTargets()
	for _, pool := range r.c.Ingress.LoadBalancerPools {
		for i := range pool.Count {
			address, err := r.c.Subnets().IngressPool(number)
			if err != nil {
				r.fail("ingress.loadBalancerPools", "a larger network, or network.nodeSubnetMaskSize, makes place for more",
					"the load balancer %d of the pool %s: %v", i+1, pool.Name, err)
				return
			}
			number++
			balancer := r.ingressBalancer(pool, i+1, address.String())
			if len(pool.TargetLabelSelector) == 0 { // which selects none of them
				balancer.IPTargets = dedicated
			}
			r.out.LoadBalancers = append(r.out.LoadBalancers, balancer)
		}
	}
}

func (r balancerResolver) ingressBalancer(pool schemas.LoadBalancerPool, number int, address string) schemas.InfraLoadBalancer {
	name := r.name(pool.Name, strconv.Itoa(number))
	labels := maps.Clone(pool.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, r.labels(labelComponent, ingress, labelPool, pool.Name))
	return schemas.InfraLoadBalancer{
		Name: name, Type: pool.Type, Location: pool.Location, Algorithm: pool.Algorithm, Labels: labels,
		Protected: r.c.DeleteProtection, PrivateIP: address, PublicInterface: *pool.PublicNetwork,
		Services: r.ingressServices(pool.Ports),
		Targets:  r.ingressTargets(pool),
		ReverseDNS: r.reverseDNS(subject{hostname: name, pool: pool.Name, role: ingress, at: r.c.Near("ingress.loadBalancerPools")}, *pool.PublicNetwork, *pool.PublicNetwork,
			pool.ReverseDNS, r.c.Ingress.LoadBalancer.ReverseDNS),
	}
}

// ingressServices are what the load balancers of a pool do at their ports.
func (r balancerResolver) ingressServices(ports []schemas.LoadBalancerPort) (all []schemas.InfraService) {
	check := r.c.Ingress.LoadBalancer.HealthCheck
	for _, p := range ports {
		all = append(all, schemas.InfraService{
			Protocol: "tcp", ListenPort: p.Listen, DestinationPort: p.Node, ProxyProtocol: *p.ProxyProtocol,
			HealthCheck: schemas.InfraHealthCheck{
				Protocol: "tcp", Port: p.Node, Interval: check.Interval, Timeout: check.Timeout, Retries: check.Retries,
			},
		})
	}
	return all
}

// noBalancer is the label of Kubernetes that keeps a node out of load balancers.
const noBalancer = "node.kubernetes.io/exclude-from-external-load-balancers"

// dedicatedTargets are the addresses behind the vSwitch of the dedicated servers that load
// balancers lead to.
func (r balancerResolver) dedicatedTargets() (addresses []string) {
	if len(r.c.Ingress.LoadBalancerPools) == 0 {
		return nil
	}
	for _, n := range r.c.Resolve() {
		if _, excluded := n.Labels[noBalancer]; n.Dedicated && !excluded {
			addresses = append(addresses, n.PrivateIP.String())
		}
	}
	return addresses
}

// ingressTargets are the selectors of the servers that a load balancer leads
// to: those that the file gives, kept to the cluster, or each pool of workers,
// and each group of servers that the autoscaler makes.
func (r balancerResolver) ingressTargets(pool schemas.LoadBalancerPool) []string {
	var targets []string
	for _, s := range pool.TargetLabelSelector {
		targets = append(targets, r.selector()+","+strings.TrimSpace(s))
	}
	if len(targets) > 0 {
		return targets
	}
	for _, p := range r.c.Cluster.Nodes.Workers.NodePools {
		if _, excluded := p.Labels[noBalancer]; !excluded && len(p.Nodes) == 0 {
			targets = append(targets, r.selector(labelPool, p.Name))
		}
	}
	for _, p := range r.autoscalerPools() {
		if _, excluded := p.Labels[noBalancer]; !excluded {
			targets = append(targets, labelGroup+"="+r.name(p.Name))
		}
	}
	return targets
}
