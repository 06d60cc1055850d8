package render_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upstreamWays are ways in, and the addons of each whose objects upstream writes.
var upstreamWays = map[string]struct{ cluster, charts string }{
	"Envoy with zones at Hetzner": {`certificates: {email: ops@example.com, issuers: [{name: le, challenge: hetzner, zones: [example.com]}]}
ingress: {gateway: {controller: envoy, hostnames: [example.com, "*.example.com"]}}
externalDns: {provider: hetzner, zones: [example.com], annotated: true, policy: sync}
`, "cert-manager cert-manager-webhook-hetzner envoy-gateway envoy-gateway-crds external-dns"},
	"Envoy behind pools": {`certificates: {issuers: [{name: le, challenge: http01}]}
ingress: {gateway: {controller: envoy, hostnames: [example.com]}, loadBalancerPools: [{name: edge, ports: [{listen: 80, node: 31080}, {listen: 443, node: 31443}]}]}
`, "cert-manager envoy-gateway envoy-gateway-crds"},
	"Traefik with zones at Cloudflare": {`certificates: {issuers: [{name: le, challenge: cloudflare}]}
ingress: {gateway: {controller: traefik, hostnames: ["*.example.com"]}}
externalDns: {provider: cloudflare, zones: [example.com], targets: [203.0.113.10]}
`, "cert-manager external-dns traefik"},
	"Traefik behind pools": {`certificates: {issuers: [{name: le, challenge: http01}]}
ingress: {gateway: {controller: traefik, hostnames: [example.com], replicas: 3}, loadBalancerPools: [{name: edge}]}
`, "cert-manager traefik"},
	"Cilium": {`cni: {type: cilium}
certificates: {issuers: [{name: le, challenge: cloudflare}]}
ingress: {gateway: {controller: cilium, hostnames: ["*.example.com"]}}
`, "cert-manager cilium"},
	"Cilium behind pools": {`cni: {type: cilium}
certificates: {issuers: [{name: le, challenge: http01}]}
ingress: {gateway: {controller: cilium, hostnames: [example.com]}, loadBalancerPools: [{name: edge}]}
`, "cert-manager cilium"},
	"MetalLB": {`serviceAddresses: {implementation: metallb, addresses: [192.0.2.240-192.0.2.250], interfaces: [eth0]}
certificates: {issuers: [{name: le, challenge: cloudflare}]}
ingress: {gateway: {controller: envoy, hostnames: ["*.example.com"]}}
`, "cert-manager envoy-gateway envoy-gateway-crds metallb"},
	"MetalLB and routers": {`serviceAddresses: {implementation: metallb, addresses: [192.0.2.240/28], announce: bgp, bgp: {asn: 64512, peers: [{address: 192.0.2.1, asn: 64513}]}}
certificates: {issuers: [{name: le, challenge: cloudflare}]}
ingress: {gateway: {controller: traefik, hostnames: ["*.example.com"]}}
`, "cert-manager metallb traefik"},
}

// staticNodes are a cluster for addresses of one's own.
const staticNodes = `clusterName: prod
provider: static
endpoint: https://192.0.2.2:6443
nodes: {controlPlane: {nodes: [{name: a, match: {mac: "00:00:5e:00:53:01"}, installDisk: /dev/sda, address: 192.0.2.2/24}]}}
`

// manifestAddons come as manifests, and not as charts.
var manifestAddons = map[string]bool{"gateway-api": true}

// TestUpstreamWays does for ways in what TestUpstreamTrees does for the rest, and with
// an Ingress and an HTTPRoute that include the component for HTTPS: values and objects
// are as the charts and definitions of upstream have them.
func TestUpstreamWays(t *testing.T) {
	dir := upstreamCharts(t)
	for name, way := range upstreamWays {
		t.Run(name, func(t *testing.T) {
			r, key := gatewayRepo(t)
			r.variables("prod", key, "    HETZNER_DNS_TOKEN: qzxkanarivogl95zones\n    CLOUDFLARE_API_TOKEN: qzxkanarivogl95cloudflare\n")
			var addons strings.Builder
			for _, name := range append(strings.Fields(way.charts), "gateway-api") {
				from := filepath.Join(dir, name)
				if _, err := os.Stat(from); err != nil {
					t.Skipf("%s is not in TALOSGEN_CHARTS_DIR", name)
				}
				if err := os.CopyFS(filepath.Join(r.root, "charts", name), os.DirFS(from)); err != nil {
					t.Fatal(err)
				}
				source := "{chart: {path: charts/" + name + "}}"
				if manifestAddons[name] {
					source = "{path: charts/" + name + "}"
				}
				fmt.Fprintf(&addons, "  %s: {source: %s}\n", name, source)
			}
			base := gatewayCluster
			if strings.Contains(way.charts, "metallb") {
				base = staticNodes
			}
			r.file("envs/prod/cluster.yaml", base+way.cluster+"gitops: {repository: \"https://git.example.com/a\", components: existing}\naddons:\n"+
				"  web: {namespace: web, source: {path: envs/prod/addons/web}}\n"+addons.String())
			r.file("envs/prod/addons/web/kustomization.yaml", "resources: [web.yaml]\ncomponents: [../../../../rendered/prod/components/https]\n")
			r.file("envs/prod/addons/web/web.yaml", webObjects)
			checkUpstream(t, r, key, "acknowledgeMetadata")
		})
	}
}

// webObjects are a website by an Ingress and by an HTTPRoute.
const webObjects = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: web, annotations: {talosgen.dev/hosts: "2"}}
spec:
  rules:
  - host: one.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
  - host: two.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: web}
spec:
  hostnames: [www.example.com]
  rules: [{backendRefs: [{name: web, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`
