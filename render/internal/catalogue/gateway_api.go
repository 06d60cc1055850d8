package catalogue

import "github.com/talosgen/talosgen/schemas"

const (
	gatewayName = "gateway-api"
	// The release that Cilium 1.20 and Envoy Gateway 1.9 are made for.
	gatewayVersion = "v1.6.1"
)

// gatewayAPI are the definitions of the Gateway API.
func gatewayAPI() entry {
	e := entry{
		about:     "the definitions of the Gateway API",
		defaultOn: "with cni.gatewayApi or ingress.gateway.controller", options: "cni.gatewayApi, ingress.gateway.controller",
		name: gatewayName, layer: Controllers, version: gatewayVersion,
		wanted: func(f *facts) (bool, string) {
			if f.Cluster.CNI.GatewayAPI {
				return true, "cni.gatewayApi"
			}
			return f.Cluster.Ingress.Gateway.Controller != schemas.None, gatewayOption
		},
	}
	e.build = func(f *facts, a *Addon) {
		a.Keep = true // with a definition go all objects of its kind
		if c := f.Cluster.CNI; c.GatewayAPI && c.Manager != "flux" {
			a.Layer = Bootstrap // Cilium looks for them when it starts
		}
		a.Source = &Source{Manifests: []Remote{{
			URL: "https://github.com/kubernetes-sigs/gateway-api/releases/download/" + f.version(e) + "/standard-install.yaml",
		}}}
	}
	return e
}
