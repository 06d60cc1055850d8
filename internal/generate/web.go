package generate

import (
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// zone is the zone of names of generated clusters.
const zone = "example.com"

// web sets who signs certificates, the gateway that has them, and what writes names
// into zones.
func (e podNetworkGenerator) web(c values) {
	if !e.is("certificates", 15) {
		return
	}
	in, _ := c["ingress"].(values)
	if in == nil {
		in = values{}
	}
	g := e.gateway(c, in)
	// Names are proven by HTTP where something listens, and not those with *.
	byHTTP := g == nil && in["nginx"] != nil || g != nil && g["hostnames"].([]string)[0] != "*."+zone
	var issuers []values
	for i := range e.of("certificates.issuers", 1, 2) {
		issuers = append(issuers, e.issuer(c, fmt.Sprintf("certificates.issuers%d", i), byHTTP))
		issuers[i]["name"] = fmt.Sprintf("issuer-%d", i)
	}
	certificates := values{"issuers": issuers}
	put(e, certificates, "certificates", "email", 50, func(string) string { return "ops@example.com" })
	c["certificates"] = certificates
	e.local(c, "cert-manager", "cert-manager")
	e.defines("cert-manager", "cert-manager.io", [2]string{"clusterissuers", "ClusterIssuer"})
	if g != nil {
		put(e, g, "ingress.gateway", "issuer", 40, func(string) string { return "issuer-0" })
		in["gateway"] = g
	}
	section(c, "ingress", in)
	e.externalDNS(c, g)
	e.withHTTPS(c)
}

// withHTTPS is an addon that includes the component for HTTPS, from the tree that is
// not there yet.
func (e podNetworkGenerator) withHTTPS(c values) {
	if !e.is("components", 60) {
		return
	}
	const name = "with-https"
	folder := "addons/" + name
	e.write(folder+"/kustomization.yaml", "resources: [ingress.yaml]\ncomponents: [../../../../rendered/"+e.Name+"/components/https]\n")
	e.write(folder+"/ingress.yaml", encode(values{
		"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": values{"name": name, "namespace": name},
		"spec": values{"rules": []values{{"host": "web." + zone}}},
	}))
	inner(c, "addons")[name] = values{"namespace": name, "source": values{"path": "envs/" + e.Name + "/" + folder}}
}

// issuer is one of the issuers, with the token that it takes.
func (e podNetworkGenerator) issuer(c values, at string, byHTTP bool) values {
	challenges := []string{schemas.HetznerDNS, schemas.Cloudflare}
	if byHTTP {
		challenges = append(challenges, schemas.HTTP01)
	}
	i := values{"challenge": one(e, at+".challenge", challenges...)}
	put(e, i, at, "server", 30, func(string) string { return "https://acme-staging-v02.api.letsencrypt.org/directory" })
	put(e, i, at, "zones", 30, func(string) []string { return []string{zone} })
	e.dnsToken(i["challenge"].(string))
	if i["challenge"] == schemas.HetznerDNS {
		e.local(c, "cert-manager-webhook-hetzner", "cert-manager")
	}
	return i
}

// dnsToken is the token of who keeps a zone.
func (e podNetworkGenerator) dnsToken(provider string) {
	variable := map[string]string{schemas.HetznerDNS: "HETZNER_DNS_TOKEN", schemas.Cloudflare: "CLOUDFLARE_API_TOKEN"}[provider]
	if variable != "" {
		e.Secrets[variable] = e.token(e.at+"."+variable, 64)
	}
}

// gateway is the gateway; nil if there is none.
func (e podNetworkGenerator) gateway(c, in values) values {
	if !e.is("ingress.gateway", 60) {
		return nil
	}
	const at = "ingress.gateway"
	controllers := []string{schemas.EnvoyGateway, schemas.TraefikGateway}
	cni, _ := c["cni"].(values)
	if cni["type"] == "cilium" && cni["kubeProxyReplacement"] == nil {
		controllers = append(controllers, schemas.CiliumGateway)
	}
	controller := one(e, at+".controller", controllers...)
	g := values{"controller": controller, "hostnames": one(e, at+".hostnames", []string{"www." + zone}, []string{"*." + zone, zone})}
	put(e, g, at, "replicas", 30, func(name string) int { return e.of(name+" value", 1, 3) })
	e.choice(g, at, "serviceType", 30, schemas.LoadBalancerService, schemas.NodePortService)
	atNodes := e.Provider != schemas.Hetzner || in["loadBalancerPools"] != nil
	if in["nginx"] != nil && atNodes {
		g["serviceType"] = schemas.LoadBalancerService // the ports of nodes are taken
	}
	e.local(c, "gateway-api", "kube-system")
	e.defines("gateway-api", "gateway.networking.k8s.io",
		[2]string{"gatewayclasses", "GatewayClass"}, [2]string{"gateways", "Gateway"}, [2]string{"httproutes", "HTTPRoute"})
	switch controller {
	case schemas.EnvoyGateway:
		e.local(c, "envoy-gateway", "envoy-gateway-system")
		e.local(c, "envoy-gateway-crds", "envoy-gateway-system")
		e.defines("envoy-gateway-crds", "gateway.envoyproxy.io",
			[2]string{"envoyproxies", "EnvoyProxy"}, [2]string{"clienttrafficpolicies", "ClientTrafficPolicy"})
	case schemas.TraefikGateway:
		e.local(c, "traefik", "traefik")
	}
	return g
}

// externalDNS lets names lead to the cluster.
func (e podNetworkGenerator) externalDNS(c, g values) {
	const at = "externalDns"
	if !e.is(at, 50) {
		return
	}
	d := values{"provider": one(e, at+".provider", schemas.HetznerDNS, schemas.Cloudflare), "zones": []string{zone}}
	e.choice(d, at, "policy", 40, "sync", "create-only", "upsert-only")
	e.flag(d, at, "annotated", 40)
	put(e, d, at, "targets", 40, func(string) []string { return []string{"203.0.113.10"} })
	if g != nil {
		d["targets"] = []string{"203.0.113.10"} // it may be at ports of nodes
	}
	e.dnsToken(d["provider"].(string))
	c[at] = d
	e.local(c, "external-dns", "external-dns")
}

// defines adds definitions of custom resources to an addon from the repository: of
// kinds with namespaces, and of those without, each as its plural and its name.
func (e *environment) defines(addon, group string, kinds ...[2]string) {
	for _, k := range kinds {
		scope, version := "Namespaced", "v1"
		switch {
		case k[1] == "BGPPeer":
			version = "v1beta2"
		case group == "metallb.io":
			version = "v1beta1"
		case group == "gateway.envoyproxy.io":
			version = "v1alpha1"
		}
		if strings.HasSuffix(k[1], "Class") || strings.HasPrefix(k[1], "Cluster") {
			scope = "Cluster"
		}
		e.files[e.place(addon)+"/objects.yaml"] += "---\n" + encode(values{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": values{"name": k[0] + "." + group},
			"spec": values{
				"group": group, "scope": scope, "names": values{"plural": k[0], "singular": strings.ToLower(k[1]), "kind": k[1], "listKind": k[1] + "List"},
				"versions": []values{
					{"name": version, "served": true, "storage": true, "schema": values{
						"openAPIV3Schema": values{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
					}},
				},
			},
		})
	}
}
