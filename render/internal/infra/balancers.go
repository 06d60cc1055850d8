package infra

import (
	"cmp"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// apiBalancer is the load balancer of the Kubernetes API. Its health check asks
// for the version over TLS and takes the answer 401 for health: a TCP check
// would not notice an API server that hangs.
func (r *resolver) apiBalancer() {
	if !r.in.API.Enabled {
		return
	}
	address, err := r.subnets.APILoadBalancer()
	if err != nil {
		r.problems.Add(diag.On("infrastructure", "the API load balancer: %v", err))
		return
	}
	r.out.LoadBalancers = append(r.out.LoadBalancers, schemas.InfraLoadBalancer{
		Name: r.in.name("kube-api"), Type: r.in.API.Type, Location: r.in.Location, Algorithm: "round_robin",
		Labels: r.in.labels(labelComponent, "kube-api"), Protected: r.in.DeleteProtection,
		PrivateIP: address.String(), PublicInterface: r.in.API.Public,
		Services: []schemas.InfraService{{
			Protocol: "tcp", ListenPort: kubernetesPort, DestinationPort: kubernetesPort,
			HealthCheck: schemas.InfraHealthCheck{
				Protocol: "http", Port: kubernetesPort, Interval: 3, Timeout: 2, Retries: 2,
				Path: "/version", Response: "Status", TLS: true, StatusCodes: []string{"401"},
			},
		}},
		Targets:    []string{r.in.selector(labelRole, roleControlPlane)},
		ReverseDNS: r.in.RDNS,
	})
}

// checkBalancer refuses a restriction that would not restrict: Hetzner's
// firewalls do not filter load balancers.
func (r *resolver) checkBalancer() {
	if !r.in.API.Enabled || !r.in.API.Public || r.in.API.AcknowledgeOpen {
		return
	}
	for _, source := range r.in.Firewall.KubernetesSources {
		if source.Bits() == 0 {
			return
		}
	}
	if len(r.in.Firewall.KubernetesSources) > 0 {
		r.problems.Add(diag.New(r.in.API.Pos, "the sources of the Kubernetes API are restricted, but its load balancer is open to everyone: Hetzner's firewalls do not filter load balancers").
			WithHint("turn the load balancer's public interface off, or acknowledge that it is open"))
	}
}

// Ports of the nodes that ingress controllers listen on.
const (
	ingressHTTP  = 30000
	ingressHTTPS = 30001
)

// ingressBalancers resolves the load balancers of ingress pools. Their targets
// are the nodes of the pools, and the servers that the autoscaler makes for
// them, which it labels in its own way.
func (r *resolver) ingressBalancers() {
	number := 0
	for _, pool := range r.in.Ingress {
		for i := range pool.Count {
			address, err := r.subnets.IngressPool(number)
			if err != nil {
				r.problems.Add(diag.New(pool.Pos, "ingress pool %s: %v", pool.Name, err))
				return
			}
			number++
			var targets []string
			for _, p := range pool.Pools {
				targets = append(targets, r.in.selector(labelPool, p), "hcloud/node-group="+r.in.name(p))
			}
			r.out.LoadBalancers = append(r.out.LoadBalancers, schemas.InfraLoadBalancer{
				Name: r.in.name(pool.Name, strconv.Itoa(i+1)), Type: pool.Type, Location: cmp.Or(pool.Location, r.in.Location),
				Algorithm: pool.Algorithm, Labels: r.in.labels(labelComponent, "ingress", labelPool, pool.Name),
				Protected: r.in.DeleteProtection, PrivateIP: address.String(), PublicInterface: pool.Public,
				Services: []schemas.InfraService{
					ingressService(80, ingressHTTP, pool.ProxyProtocol), ingressService(443, ingressHTTPS, pool.ProxyProtocol),
				},
				Targets: targets, ReverseDNS: template(pool.RDNS, r.in.RDNS),
			})
		}
	}
}

func ingressService(listen, destination int, proxyProtocol bool) schemas.InfraService {
	return schemas.InfraService{
		Protocol: "tcp", ListenPort: listen, DestinationPort: destination, ProxyProtocol: proxyProtocol,
		HealthCheck: schemas.InfraHealthCheck{Protocol: "tcp", Port: destination, Interval: 3, Timeout: 3, Retries: 3},
	}
}
