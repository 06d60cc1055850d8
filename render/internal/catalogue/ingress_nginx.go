package catalogue

import (
	"cmp"

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
			"ingress-nginx is retired: since March 2026 it is not maintained, not even for security; move to the Gateway API: set ingress.gateway.controller beside it, and turn it off when all has moved")
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
			"config":                     nginxFacts{web{f}}.nginxConfig(),
			"service":                    nginxFacts{web{f}}.nginxService(),
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
type nginxFacts struct{ web }

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
	if f.nginxServiceType() == schemas.NodePortService {
		service["type"], service["externalTrafficPolicy"] = schemas.NodePortService, f.trafficPolicy(f.Cluster.Ingress.Nginx.ExternalTrafficPolicy)
		service["nodePorts"] = fields{"http": f.nodePort(httpPort), "https": f.nodePort(httpsPort)}
		return service
	}
	service["annotations"] = f.balancerAnnotations("ingress")
	return service
}
