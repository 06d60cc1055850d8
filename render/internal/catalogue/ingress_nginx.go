package catalogue

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

const (
	nginxName    = "ingress-nginx"
	nginxVersion = "4.15.1"
)

// ingressNginx leads traffic from outside to services.
func ingressNginx() entry {
	e := entry{
		about:     "leads web traffic to services; upstream retired it",
		defaultOn: "with ingress.nginx.enabled", options: "ingress",
		name: nginxName, layer: Controllers, namespace: nginxName, version: nginxVersion, onlyBy: "ingress.nginx.enabled",
		wanted: func(f *facts) (bool, string) { return f.Cluster.Ingress.Nginx.Enabled, "ingress.nginx.enabled" },
	}
	e.build = func(f *facts, a *Addon) {
		a.Source = &Source{Chart: &Chart{Repository: "https://kubernetes.github.io/ingress-nginx", Name: nginxName, Version: f.version(e)}}
		a.Warnings = append(a.Warnings,
			"ingress-nginx is retired: since March 2026 it is not maintained, not even for security; move to the Gateway API (cni.gatewayApi with Cilium) or another controller")
		nginx := f.Cluster.Ingress.Nginx
		webhooks := fields{"enabled": false} // their certificate is made by hooks
		if on, _ := f.enabled(certManager()); on {
			a.DependsOn = append(a.DependsOn, certManagerName)
			webhooks = fields{"enabled": true, "certManager": fields{"enabled": true}}
		}
		controller := fields{
			"kind":                       nginx.Kind,
			"watchIngressWithoutClass":   true,
			"enableTopologyAwareRouting": nginx.TopologyAwareRouting,
			"admissionWebhooks":          webhooks,
			"config":                     nginxFacts{f}.nginxConfig(),
			"service":                    nginxFacts{f}.nginxService(),
		}
		if nginx.Kind == "Deployment" {
			controller["replicaCount"] = cmp.Or(nginx.Replicas, map[bool]int{false: 2, true: 3}[f.countRole(schemas.RoleWorker) > 2])
			controller["minAvailable"] = 1
		}
		a.Values = plain(fields{"controller": controller}).(fields)
	}
	return e
}

// nginxFacts are what ingress-nginx is told.
type nginxFacts struct{ *facts }

// behindProxyProtocol tells whether load balancers of ours lead to the
// controller; they tell it the client's address by the PROXY protocol.
func (f nginxFacts) behindProxyProtocol() bool { return f.Cluster.Provider == schemas.Hetzner }

// nginxConfig is the ConfigMap of the controller.
func (f nginxFacts) nginxConfig() map[string]string {
	config := map[string]string{}
	if f.behindProxyProtocol() {
		config["use-proxy-protocol"] = "true"
	}
	for key, value := range f.Cluster.Ingress.Nginx.Config {
		config[key] = value
	}
	return config
}

// nginxService is reached at fixed ports of nodes by load balancers that render
// describes, and by people where there are none, or asks the cloud controller
// for one.
func (f nginxFacts) nginxService() fields {
	service := fields{"externalTrafficPolicy": f.Cluster.Ingress.Nginx.ExternalTrafficPolicy}
	if f.Cluster.Provider != schemas.Hetzner || len(f.Cluster.Ingress.LoadBalancerPools) > 0 {
		service["type"] = "NodePort"
		service["nodePorts"] = fields{"http": nginxPort(f.facts, 80, 30000), "https": nginxPort(f.facts, 443, 30001)}
		return service
	}
	service["annotations"] = f.balancerAnnotations()
	return service
}

// nginxPort is the port of nodes that load balancers lead a port to.
func nginxPort(f *facts, listen, otherwise int) int {
	for _, b := range f.Infrastructure.LoadBalancers {
		for _, s := range b.Services {
			if s.ListenPort == listen {
				return s.DestinationPort
			}
		}
	}
	return otherwise
}

// balancerAnnotations describe the load balancer that the cloud controller
// makes.
func (f nginxFacts) balancerAnnotations() map[string]string {
	b := f.Cluster.Ingress.LoadBalancer
	values := map[string]string{
		"name":                    f.Cluster.ClusterName + "-ingress",
		"type":                    b.Type,
		"algorithm-type":          b.Algorithm,
		"disable-public-network":  strconv.FormatBool(!b.PublicNetwork),
		"disable-private-ingress": "true",
		"use-private-ip":          "true",
		"uses-proxyprotocol":      "true",
		"health-check-interval":   strconv.Itoa(b.HealthCheck.Interval) + "s",
		"health-check-timeout":    strconv.Itoa(b.HealthCheck.Timeout) + "s",
		"health-check-retries":    strconv.Itoa(b.HealthCheck.Retries),
	}
	if location := f.loadBalancerLocation(); location != "" {
		values["location"] = location
	}
	// With a name in place of its address, pods reach it from outside as all
	// others do, and not past it without the PROXY protocol.
	if name := cmp.Or(b.ReverseDNS.IPv4, b.ReverseDNS.Name); name != "" && !strings.Contains(name, "{{") {
		values["hostname"] = name
	}
	named := make(map[string]string, len(values))
	for key, value := range values {
		named["load-balancer.hetzner.cloud/"+key] = value
	}
	return named
}
