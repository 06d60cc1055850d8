package catalogue

import (
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

const (
	externalDNSName    = "external-dns"
	externalDNSVersion = "1.21.1"

	// From the releases of hetzner/external-dns-hetzner-webhook.
	dnsWebhookImage   = "docker.io/hetzner/external-dns-hetzner-webhook"
	dnsWebhookVersion = "v0.4.0"

	// dnsAnnotation marks what has names to write, with externalDns.annotated.
	dnsAnnotation = "talosgen.dev/dns"
)

// externalDNS writes the names of services into zones.
func externalDNS() entry {
	e := entry{
		about:     "writes names of Ingresses, HTTPRoutes and Services into zones at Hetzner or Cloudflare",
		defaultOn: "with externalDns.provider", options: "externalDns",
		name: externalDNSName, layer: Controllers, namespace: externalDNSName, podSecurity: restricted, version: externalDNSVersion, onlyBy: "externalDns.provider",
		wanted: func(f *facts) (bool, string) {
			return f.Cluster.ExternalDNS.Provider != schemas.None, "externalDns.provider"
		},
		needs: func(f *facts) []Need { return needDNSToken(f.Cluster.ExternalDNS.Provider, "externalDns.provider") },
	}
	e.build = func(given *facts, a *Addon) {
		f := web{given}
		d := f.Cluster.ExternalDNS
		a.Source = &Source{Chart: &Chart{Repository: "https://kubernetes-sigs.github.io/external-dns/", Name: externalDNSName, Version: f.version(e)}}
		secret := f.dnsTokenObject(a.Namespace, d.Provider)
		a.Objects = []object{secret}
		values := fields{
			"sources":        f.dnsSources(a),
			"policy":         d.Policy,
			"domainFilters":  d.Zones,
			"txtOwnerId":     f.Cluster.ClusterName, // whose records are whose, where clusters share a zone
			"podAnnotations": checksum(secret),
		}
		if d.Annotated {
			values["annotationFilter"] = dnsAnnotation + "=true"
		}
		if len(d.Targets) > 0 {
			values["extraArgs"] = fields{"default-targets": d.Targets}
		}
		env := func(name string) items { return items{envSecret(name, secret.Name(), tokenKey)} }
		if d.Provider == schemas.Cloudflare {
			values["provider"], values["env"] = fields{"name": "cloudflare"}, env("CF_API_TOKEN")
		} else {
			values["provider"] = dnsWebhook(append(env("HETZNER_TOKEN"), fields{"name": "INCLUDE_DOMAIN_FILTER", "value": strings.Join(d.Zones, ",")}))
		}
		a.Values = plain(values).(fields)
	}
	return e
}

// dnsWebhook speaks to Hetzner beside external-dns, in the same pod.
func dnsWebhook(env items) fields {
	return fields{"name": "webhook", "webhook": fields{
		"image": fields{"repository": dnsWebhookImage, "tag": dnsWebhookVersion},
		"env":   env,
		// As the chart has it for external-dns itself.
		"securityContext": fields{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532,
			"capabilities": fields{"drop": []string{"ALL"}},
		},
	}}
}

// dnsSources are the kinds of objects whose names are written.
func (f web) dnsSources(a *Addon) []string {
	sources := []string{"service", "ingress"}
	if on, _ := f.enabled(gatewayAPI()); on {
		a.DependsOn = append(a.DependsOn, gatewayName)
		sources = append(sources, "gateway-httproute")
	}
	return sources
}

// checkDNS makes sure that names lead somewhere.
func (f webRules) checkDNS() {
	d, g := f.Cluster.ExternalDNS, f.Cluster.Ingress.Gateway
	switch {
	case d.Provider == schemas.None:
	case len(d.Zones) == 0:
		f.fail("externalDns.provider", "for example externalDns.zones: [example.com]", "external-dns has no zones that it may change")
	case g.Controller != schemas.None && f.gatewayService() == schemas.NodePortService && len(d.Targets) == 0:
		f.fail("externalDns.provider", "externalDns.targets: the addresses that people come by, such as those of load balancers",
			"the gateway is at ports of nodes, so names would lead to addresses of nodes")
	}
}
