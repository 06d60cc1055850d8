package catalogue

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// Ports of the web, and of nodes where no load balancer leads to others.
const (
	httpPort, httpsPort         = 80, 443
	httpNodePort, httpsNodePort = 30000, 30001
	hetznerAnnotations          = "load-balancer.hetzner.cloud/"
	proxyProtocolAnnotation     = "uses-proxyprotocol"
)

// The ports of nodes that Kubernetes gives to Services by default.
const leastNodePort, mostNodePort = 30000, 32767

// web are the facts of the way in: what listens, what leads there, names and
// certificates.
type web struct{ *facts }

// behindProxyProtocol tells whether load balancers lead to what lets traffic in; they
// tell it the client's address by the PROXY protocol.
func (f web) behindProxyProtocol() bool { return f.Cluster.Provider == schemas.Hetzner }

// nodePort is the port of nodes that load balancers lead a port to.
func (f web) nodePort(listen int) int {
	for _, pool := range f.Cluster.Ingress.LoadBalancerPools {
		for _, p := range pool.Ports {
			if p.Listen == listen {
				return p.Node
			}
		}
	}
	return map[int]int{httpPort: httpNodePort, httpsPort: httpsNodePort}[listen]
}

// localTraffic tells whether load balancers only lead to nodes that run what lets traffic
// in: the others drop what reaches them, and their health checks fail.
func (f web) localTraffic() bool {
	return slices.ContainsFunc(f.Cluster.Ingress.LoadBalancerPools, func(p schemas.LoadBalancerPool) bool { return p.LocalTraffic })
}

// trafficPolicy is the externalTrafficPolicy of a Service behind ports of nodes, or else
// the given one.
func (f web) trafficPolicy(otherwise string) string {
	if f.localTraffic() {
		return "Local"
	}
	return otherwise
}

// nginxServiceType is how traffic reaches ingress-nginx.
func (f web) nginxServiceType() string {
	if f.Cluster.Provider != schemas.Hetzner || len(f.Cluster.Ingress.LoadBalancerPools) > 0 {
		return schemas.NodePortService
	}
	return schemas.LoadBalancerService
}

// balancerAnnotations describe a load balancer for the web that the cloud controller
// makes.
func (f web) balancerAnnotations(name string) map[string]string {
	b := f.Cluster.Ingress.LoadBalancer
	values := map[string]string{
		"name":                    f.Cluster.ClusterName + "-" + name,
		"type":                    b.Type,
		"algorithm-type":          b.Algorithm,
		"disable-public-network":  strconv.FormatBool(!b.PublicNetwork),
		"disable-private-ingress": "true",
		"use-private-ip":          "true",
		proxyProtocolAnnotation:   strconv.FormatBool(f.behindProxyProtocol()),
		"health-check-interval":   strconv.Itoa(b.HealthCheck.Interval) + "s",
		"health-check-timeout":    strconv.Itoa(b.HealthCheck.Timeout) + "s",
		"health-check-retries":    strconv.Itoa(b.HealthCheck.Retries),
	}
	if location := f.loadBalancerLocation(); location != "" {
		values["location"] = location
	}
	if host := f.balancerHostname(); host != "" {
		values["hostname"] = host
	}
	named := make(map[string]string, len(values))
	for key, value := range values {
		named[hetznerAnnotations+key] = value
	}
	return named
}

// balancerHostname is the name of such a load balancer. With it in place of its
// address, pods reach it from outside as all others do, and not past it without the
// PROXY protocol.
func (f web) balancerHostname() string {
	name := f.Cluster.Ingress.LoadBalancer.ReverseDNS
	if host := cmp.Or(name.IPv4, name.Name); !strings.Contains(host, "{{") {
		return host
	}
	return ""
}

// passesBalancer tells whether pods that call the address of a load balancer come past
// it: Kubernetes knows the address, and leads it to what is behind.
func (f web) passesBalancer() bool {
	in := f.Cluster.Ingress
	service := in.Nginx.Enabled && f.nginxServiceType() == schemas.LoadBalancerService ||
		in.Gateway.Controller != schemas.None && f.gatewayService() == schemas.LoadBalancerService
	return service && f.behindProxyProtocol() && f.balancerHostname() == ""
}
