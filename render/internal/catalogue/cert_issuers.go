package catalogue

import (
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

const (
	issuersName = "cert-manager-issuers"
	issuersOpt  = "certificates.issuers"

	certWebhookName    = "cert-manager-webhook-hetzner"
	certWebhookVersion = "0.9.0"
	// What Hetzner's webhook is called among APIs.
	certWebhookGroup = "acme.hetzner.com"

	certGroup = "cert-manager.io"
)

// certIssuers are what gets certificates from authorities.
func certIssuers() entry {
	e := entry{
		about:   "get certificates from authorities such as Let's Encrypt",
		builtIn: true, defaultOn: "with certificates.issuers", options: "certificates",
		name: issuersName, layer: Configs, namespace: certManagerName, podSecurity: restricted, dependsOn: []string{certManagerName}, onlyBy: issuersOpt,
		wanted: wantIssuers(func(schemas.Issuer) bool { return true }),
		needs: func(f *facts) (all []Need) {
			for i, issuer := range f.Cluster.Certificates.Issuers {
				all = append(all, needDNSToken(issuer.Challenge, issuerOption(i)+".challenge")...)
			}
			return eachOnce(all)
		},
		machine: func(*facts) schemas.AddonNeeds {
			return schemas.AddonNeeds{Definitions: []string{"clusterissuers." + certGroup}}
		},
	}
	e.build = func(given *facts, a *Addon) {
		f := web{given}
		// Secrets of issuers for the whole cluster are where cert-manager runs.
		a.Namespace = f.addon(certManager(), "").Namespace
		if on, _ := f.enabled(certWebhook()); on {
			a.DependsOn = append(a.DependsOn, certWebhookName)
		}
		tokens := map[string]bool{}
		for i, issuer := range f.Cluster.Certificates.Issuers {
			if p := issuer.Challenge; p != schemas.HTTP01 && !tokens[p] {
				tokens[p] = true
				a.Objects = append(a.Objects, f.dnsTokenObject(a.Namespace, p))
			}
			a.Objects = append(a.Objects, f.clusterIssuer(i, issuer, a))
		}
	}
	return e
}

// certWebhook lets cert-manager write records into zones at Hetzner.
func certWebhook() entry {
	e := entry{
		about:     "lets cert-manager prove names by records in zones at Hetzner",
		defaultOn: "with an issuer for zones at Hetzner", options: issuersOpt,
		name: certWebhookName, layer: Controllers, namespace: certManagerName, podSecurity: restricted, version: certWebhookVersion,
		dependsOn: []string{certManagerName}, onlyBy: issuersOpt,
		wanted: wantIssuers(func(i schemas.Issuer) bool { return i.Challenge == schemas.HetznerDNS }),
	}
	e.build = func(given *facts, a *Addon) {
		f := web{given}
		namespace := f.addon(certManager(), "").Namespace
		a.Namespace = namespace
		a.Source = &Source{Chart: &Chart{Repository: "https://charts.hetzner.cloud", Name: certWebhookName, Version: f.version(e)}}
		a.Values = plain(fields{"groupName": certWebhookGroup, "certManager": fields{"namespace": namespace}}).(fields)
	}
	return e
}

// wantIssuers tells whether there is an issuer such as that.
func wantIssuers(such func(schemas.Issuer) bool) func(f *facts) (bool, string) {
	return func(f *facts) (bool, string) {
		return slices.ContainsFunc(f.Cluster.Certificates.Issuers, such), issuersOpt
	}
}

// issuerOption is the option of an issuer.
func issuerOption(i int) string { return issuersOpt + "." + strconv.Itoa(i) }

// clusterIssuer is an issuer for the whole cluster.
func (f web) clusterIssuer(i int, issuer schemas.Issuer, a *Addon) object {
	var solvers items
	if issuer.Challenge == schemas.HTTP01 {
		solvers = f.http01Solvers(i, a)
	} else {
		solvers = items{fields{"dns01": dns01Solver(issuer.Challenge)}}
	}
	if len(issuer.Zones) > 0 {
		for _, s := range solvers {
			selector, _ := s.(fields)["selector"].(fields)
			if selector == nil {
				s.(fields)["selector"] = fields{"dnsZones": issuer.Zones}
			}
		}
	}
	acme := fields{"server": issuer.Server, "privateKeySecretRef": fields{"name": "issuer-" + issuer.Name}, "solvers": solvers}
	if email := f.Cluster.Certificates.Email; email != "" {
		acme["email"] = email
	}
	return newObject(certGroup+"/v1", "ClusterIssuer", "", issuer.Name, fields{"spec": fields{"acme": acme}})
}

// dns01Solver writes a record into a zone.
func dns01Solver(provider string) fields {
	token := fields{"name": dnsSecret + "-" + provider, "key": tokenKey}
	if provider == schemas.Cloudflare {
		return fields{"cloudflare": fields{"apiTokenSecretRef": token}}
	}
	return fields{"webhook": fields{
		"groupName": certWebhookGroup, "solverName": "hetzner", "config": fields{"tokenSecretKeyRef": token},
	}}
}

// http01Solvers answer at port 80: by the gateway for its names, and by what serves
// Ingresses for others.
func (f web) http01Solvers(i int, a *Addon) (all items) {
	class := f.ingressClass()
	if f.Cluster.Ingress.Gateway.Controller != schemas.None {
		solver := fields{"http01": fields{"gatewayHTTPRoute": fields{"parentRefs": items{fields{
			"group": gatewayGroup, "kind": "Gateway", "namespace": gatewayNamespace, "name": publicGateway, "sectionName": plainListener,
		}}}}}
		if class != "" {
			solver["selector"] = fields{"dnsNames": f.Cluster.Ingress.Gateway.Hostnames}
		}
		all = append(all, solver)
	}
	if class != "" {
		all = append(all, fields{"http01": fields{"ingress": fields{"ingressClassName": class}}})
	}
	switch {
	case len(all) == 0:
		f.fail(issuerOption(i)+".challenge", "set ingress.gateway.controller; or prove names by records of a zone: challenge: hetzner",
			"http01 proves names at port 80, where nothing of this cluster listens")
	case f.passesBalancer():
		a.Warnings = append(a.Warnings, "cert-manager looks at port 80 itself before the authority does, from a pod, which comes past the load balancer without its PROXY protocol: "+
			"set ingress.loadBalancer.rdns.name to a name of the load balancer of its own, or prove names by records of a zone")
	}
	return all
}
