package catalogue

import (
	"github.com/talosgen/talosgen/schemas"
)

const (
	traefikName    = "traefik"
	traefikVersion = "41.3.0"

	// The ports that its pods listen on, which listeners of Gateways name.
	traefikHTTP, traefikHTTPS = 8000, 8443
	// What sends plain HTTP to HTTPS, for Ingresses.
	traefikRedirect = "redirect-https"
)

// traefik serves the Gateway API and Ingresses.
func traefik() entry {
	e := entry{
		about:     "serves the Gateway API, and Ingresses",
		defaultOn: "with ingress.gateway.controller: traefik", options: "ingress.gateway",
		name: traefikName, layer: Controllers, namespace: traefikName, version: traefikVersion, dependsOn: []string{gatewayName},
		wanted: wantController(schemas.TraefikGateway),
		machine: func(*facts) schemas.AddonNeeds {
			return schemas.AddonNeeds{Definitions: []string{"gatewayclasses." + gatewayGroup}}
		},
	}
	e.build = func(given *facts, a *Addon) {
		f := web{given}
		a.Source = &Source{Chart: &Chart{Repository: "https://traefik.github.io/charts", Name: traefikName, Version: f.version(e)}}
		a.Objects = []object{newObject("traefik.io/v1alpha1", "Middleware", a.Namespace, traefikRedirect, fields{
			"spec": fields{"redirectScheme": fields{"scheme": "https", "permanent": true}},
		})}
		a.Values = plain(fields{
			"deployment":   fields{"replicas": f.gatewayReplicas()},
			"providers":    fields{"kubernetesGateway": fields{"enabled": true}},
			"gateway":      fields{"enabled": false}, // the addon gateway has it
			"gatewayClass": fields{"enabled": true, "name": traefikName},
			"ingressClass": fields{"enabled": true, "name": traefikName, "isDefaultClass": !f.Cluster.Ingress.Nginx.Enabled},
			"ports":        fields{"web": f.traefikPort(traefikHTTP, httpPort), "websecure": f.traefikPort(traefikHTTPS, httpsPort)},
			"service":      f.traefikService(),
		}).(fields)
	}
	return e
}

// traefikPort is a port of its pods. Load balancers come from the private network, and
// nodes that pass their connections on from there or from the network of the pods.
func (f web) traefikPort(port, listen int) fields {
	p := fields{"port": port, "exposedPort": listen}
	if f.behindProxyProtocol() {
		p["proxyProtocol"] = fields{"trustedIPs": append([]string{f.Cluster.Network.CIDR}, f.Cluster.Network.PodCidrs...)}
	}
	if f.gatewayService() == schemas.NodePortService {
		p["nodePort"] = f.nodePort(listen)
	}
	return p
}

func (f web) traefikService() fields {
	spec := fields{"type": f.gatewayService()}
	if f.gatewayService() == schemas.NodePortService && f.localTraffic() {
		spec["externalTrafficPolicy"] = "Local"
	}
	service := fields{"spec": spec}
	if annotations := f.gatewayAnnotations(); annotations != nil {
		service["annotations"] = annotations
	}
	return service
}

// traefikMiddleware is how annotations of Ingresses name what sends plain HTTP to HTTPS.
func (f web) traefikMiddleware() string {
	return f.addon(traefik(), "").Namespace + "-" + traefikRedirect + "@kubernetescrd"
}

// ingressClass is the class of Ingresses that something of this cluster serves; empty
// if nothing does.
func (f web) ingressClass() string {
	switch {
	case f.Cluster.Ingress.Nginx.Enabled:
		return "nginx"
	case f.Cluster.Ingress.Gateway.Controller == schemas.TraefikGateway:
		return traefikName
	}
	return ""
}
