package catalogue

import (
	"github.com/talosgen/talosgen/schemas"
)

const (
	envoyName      = "envoy-gateway"
	envoyCRDsName  = "envoy-gateway-crds"
	envoyNamespace = "envoy-gateway-system"
	// Made for the release of the Gateway API that gatewayVersion is.
	envoyVersion = "v1.9.0"
	envoyRepo    = "oci://docker.io/envoyproxy"
	envoyGroup   = "gateway.envoyproxy.io"
	envoyClass   = "envoy"
	// The name of the settings of the gateway.
	envoySettings = "public"
)

func wantController(controller string) func(f *facts) (bool, string) {
	return func(f *facts) (bool, string) {
		return f.Cluster.Ingress.Gateway.Controller == controller, gatewayOption
	}
}

// envoyGatewayCRDs are the definitions of Envoy Gateway's own kinds.
func envoyGatewayCRDs() entry {
	e := entry{
		about:     "the definitions of Envoy Gateway's own kinds",
		defaultOn: "with ingress.gateway.controller: envoy", options: gatewayOption,
		name: envoyCRDsName, layer: Controllers, namespace: envoyNamespace, version: envoyVersion,
		wanted: wantController(schemas.EnvoyGateway),
	}
	e.build = func(given *facts, a *Addon) {
		f := web{given}
		a.Keep = true // with a definition go all objects of its kind
		a.Source = &Source{Chart: &Chart{Repository: envoyRepo, Name: "gateway-crds-helm", Version: f.version(e)}}
		a.Values = plain(fields{"crds": fields{"gatewayAPI": fields{"enabled": false}, "envoyGateway": fields{"enabled": true}}}).(fields)
	}
	return e
}

// envoyGateway runs an Envoy for each Gateway.
func envoyGateway() entry {
	e := entry{
		about:     "serves the Gateway API with Envoy",
		defaultOn: "with ingress.gateway.controller: envoy", options: "ingress.gateway",
		name: envoyName, layer: Controllers, namespace: envoyNamespace, version: envoyVersion, dependsOn: []string{gatewayName, envoyCRDsName},
		wanted: wantController(schemas.EnvoyGateway),
		machine: func(*facts) schemas.AddonNeeds {
			return schemas.AddonNeeds{Definitions: []string{"gatewayclasses." + gatewayGroup, "envoyproxies." + envoyGroup}}
		},
	}
	e.build = func(given *facts, a *Addon) {
		f := web{given}
		a.Source = &Source{Chart: &Chart{Repository: envoyRepo, Name: "gateway-helm", Version: f.version(e)}}
		a.Hooks = KeepHooks // a Job that makes the certificates between it and its Envoys, once
		a.Values = plain(fields{
			"crds":                    fields{"enabled": false},
			"kubernetesClusterDomain": f.Cluster.Network.DNSDomain,
			"deployment":              fields{"replicas": f.replicas()},
			// A Job that is gone after a while would be made again and again, and one
			// that stays cannot be changed to another version.
			"certgen":          fields{"job": fields{"ttlSecondsAfterFinished": nil, "annotations": fields{"kustomize.toolkit.fluxcd.io/force": "enabled"}}},
			"topologyInjector": fields{"enabled": false},
		}).(fields)
	}
	return e
}

// envoyObjects are what makes Envoy Gateway serve the gateway: its class, how its
// Envoys are reached, and what they expect from load balancers.
func (f web) envoyObjects() []object {
	settings := fields{"group": envoyGroup, "kind": "EnvoyProxy", "namespace": gatewayNamespace, "name": envoySettings}
	objects := []object{
		newObject(gatewayGroup+"/v1", "GatewayClass", "", envoyClass, fields{"spec": fields{
			"controllerName": envoyGroup + "/gatewayclass-controller", "parametersRef": settings,
		}}),
		newObject(envoyGroup+"/v1alpha1", "EnvoyProxy", gatewayNamespace, envoySettings, fields{"spec": fields{
			"provider": fields{"type": "Kubernetes", "kubernetes": fields{
				"envoyDeployment": fields{"replicas": f.gatewayReplicas()},
				"envoyService":    f.envoyService(),
			}},
		}}),
	}
	if f.behindProxyProtocol() {
		objects = append(objects, newObject(envoyGroup+"/v1alpha1", "ClientTrafficPolicy", gatewayNamespace, envoySettings, fields{"spec": fields{
			"targetRefs":    items{fields{"group": gatewayGroup, "kind": "Gateway", "name": publicGateway}},
			"proxyProtocol": fields{"optional": false},
		}}))
	}
	return objects
}

// envoyService is how its Envoys are reached.
func (f web) envoyService() fields {
	service := fields{"type": f.gatewayService(), "externalTrafficPolicy": "Cluster"}
	if f.gatewayService() == schemas.NodePortService {
		service["externalTrafficPolicy"] = f.trafficPolicy("Cluster")
		service["patch"] = fields{"type": "StrategicMerge", "value": fields{"spec": fields{"ports": items{
			fields{"port": httpPort, "nodePort": f.nodePort(httpPort)}, fields{"port": httpsPort, "nodePort": f.nodePort(httpsPort)},
		}}}}
		return service
	}
	if annotations := f.gatewayAnnotations(); annotations != nil {
		service["annotations"] = annotations
	}
	return service
}
