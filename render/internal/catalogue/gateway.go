package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

const (
	publicName    = "gateway"
	gatewayOption = "ingress.gateway.controller"
	gatewayGroup  = "gateway.networking.k8s.io"
	// Where the Gateway is that all namespaces use, and its name.
	gatewayNamespace = "gateway"
	publicGateway    = "public"
	// The listener for plain HTTP, which only sends to HTTPS.
	plainListener = "http"
)

// publicEntry is the Gateway that all namespaces use.
func publicEntry() entry {
	e := entry{
		about:   "the Gateway that HTTPRoutes of all namespaces are reached by, with its certificates, and the way from HTTP to HTTPS",
		builtIn: true, defaultOn: "with ingress.gateway.controller", options: "ingress.gateway, ingress.loadBalancer, ingress.loadBalancerPools",
		name: publicName, layer: Configs, namespace: gatewayNamespace, podSecurity: restricted, fixed: true, onlyBy: gatewayOption,
		dependsOn: []string{gatewayName},
		wanted: func(f *facts) (bool, string) {
			return f.Cluster.Ingress.Gateway.Controller != schemas.None, gatewayOption
		},
		machine: func(*facts) schemas.AddonNeeds {
			return schemas.AddonNeeds{Definitions: []string{"gateways." + gatewayGroup, "httproutes." + gatewayGroup}}
		},
	}
	e.build = func(given *facts, a *Addon) {
		f := web{given}
		controller := f.Cluster.Ingress.Gateway.Controller
		if len(f.Cluster.Certificates.Issuers) > 0 {
			a.DependsOn = append(a.DependsOn, issuersName)
		}
		a.DependsOn = append(a.DependsOn, map[string]string{
			schemas.CiliumGateway: ciliumName, schemas.EnvoyGateway: envoyName, schemas.TraefikGateway: traefikName,
		}[controller])
		if controller == schemas.EnvoyGateway {
			a.Objects = f.envoyObjects()
		}
		a.Objects = append(a.Objects, f.gateway(), gatewayRedirect())
	}
	return e
}

// gateway is the Gateway itself, with a listener for each name that it has a
// certificate for. cert-manager makes those, by the annotation.
func (f web) gateway() object {
	g := f.Cluster.Ingress.Gateway
	http, https := f.listenerPorts()
	listeners := items{fields{
		"name": plainListener, "protocol": "HTTP", "port": http,
		// Routes of others would be reached without encryption.
		"allowedRoutes": fields{"namespaces": fields{"from": "Same"}},
	}}
	for _, host := range g.Hostnames {
		name := strings.ReplaceAll(strings.Replace(host, "*", "any", 1), ".", "-")
		listeners = append(listeners, fields{
			"name": "https-" + name, "protocol": "HTTPS", "port": https, "hostname": host,
			"tls":           fields{"mode": "Terminate", "certificateRefs": items{fields{"kind": "Secret", "name": name + "-tls"}}},
			"allowedRoutes": fields{"namespaces": fields{"from": "All"}},
		})
	}
	spec := fields{"gatewayClassName": f.gatewayClass(), "listeners": listeners}
	if annotations := f.gatewayAnnotations(); annotations != nil && g.Controller == schemas.CiliumGateway {
		spec["infrastructure"] = fields{"annotations": annotations}
	}
	o := newObject(gatewayGroup+"/v1", "Gateway", gatewayNamespace, publicGateway, fields{"spec": spec})
	return annotated(o, map[string]string{certGroup + "/cluster-issuer": f.gatewayIssuer().Name})
}

// gatewayRedirect sends plain HTTP to HTTPS, whatever port the listener is at.
func gatewayRedirect() object {
	return newObject(gatewayGroup+"/v1", "HTTPRoute", gatewayNamespace, "to-https", fields{"spec": fields{
		"parentRefs": items{fields{"name": publicGateway, "sectionName": plainListener}},
		"rules": items{fields{"filters": items{fields{
			"type": "RequestRedirect", "requestRedirect": fields{"scheme": "https", "port": httpsPort, "statusCode": 301},
		}}}},
	}})
}

// gatewayClass is the class of the Gateway.
func (f web) gatewayClass() string {
	return map[string]string{
		schemas.CiliumGateway: "cilium", schemas.EnvoyGateway: envoyClass, schemas.TraefikGateway: traefikName,
	}[f.Cluster.Ingress.Gateway.Controller]
}

// gatewayIssuer is the issuer of its certificates; empty if there is none.
func (f web) gatewayIssuer() schemas.Issuer {
	all, name := f.Cluster.Certificates.Issuers, f.Cluster.Ingress.Gateway.Issuer
	i := slices.IndexFunc(all, func(i schemas.Issuer) bool { return name == "" || i.Name == name })
	if i < 0 {
		return schemas.Issuer{}
	}
	return all[i]
}

// listenerPorts are the ports that its listeners name: those of the Service; of
// Traefik those of its pods, and of Cilium without a Service those of the nodes.
func (f web) listenerPorts() (http, https int) {
	switch c := f.Cluster.Ingress.Gateway.Controller; {
	case c == schemas.TraefikGateway:
		return traefikHTTP, traefikHTTPS
	case c == schemas.CiliumGateway && f.gatewayService() == schemas.NodePortService:
		return f.nodePort(httpPort), f.nodePort(httpsPort)
	}
	return httpPort, httpsPort
}

// gatewayReplicas is how many pods it has.
func (f web) gatewayReplicas() int {
	return cmp.Or(f.Cluster.Ingress.Gateway.Replicas, f.replicas())
}

// gatewayService is how traffic reaches it.
func (f web) gatewayService() string {
	if set := f.Cluster.Ingress.Gateway.ServiceType; set != "" {
		return set
	}
	if f.Cluster.Provider != schemas.Hetzner && f.Cluster.ServiceAddresses.Implementation == schemas.None || len(f.Cluster.Ingress.LoadBalancerPools) > 0 {
		return schemas.NodePortService
	}
	return schemas.LoadBalancerService
}

// gatewayAnnotations describe its load balancer to the cloud controller; nil if it
// makes none.
func (f web) gatewayAnnotations() map[string]string {
	if f.Cluster.Provider != schemas.Hetzner || f.gatewayService() != schemas.LoadBalancerService {
		return nil
	}
	return f.balancerAnnotations(publicName)
}
