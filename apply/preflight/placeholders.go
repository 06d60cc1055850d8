package preflight

import (
	"net/url"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// reserved are the domains that are for documentation, and lead nowhere (RFC 2606).
var reserved = []string{"example", "invalid", "example.com", "example.net", "example.org"}

// Placeholders warns of names of examples that are still there: that of
// the Kubernetes API, which a kubeconfig has, and those of DNS records. It is no check of
// [Run]: a cluster works without its name.
func Placeholders(infra *schemas.Infrastructure) (found []Finding) {
	add := func(name, hint string) {
		if Placeholder(name) {
			f := warning(hint, "%s is a name of an example, and leads nowhere", name)
			f.Check = "names"
			found = append(found, f)
		}
	}
	if u, err := url.Parse(infra.KubernetesAPI.ExternalEndpoint); err == nil {
		add(u.Hostname(), "set kubernetes.apiHostname in cluster.yaml to the name by which operators reach the Kubernetes API, or remove it: a kubeconfig has an address then")
	}
	zones := map[string]bool{}
	for _, r := range infra.DNSRecords {
		if !zones[r.Zone] {
			zones[r.Zone] = true
			add(r.Zone, "set the zone of hetzner.dns.records in cluster.yaml to one of yours")
		}
	}
	return found
}

// Placeholder reports whether a name is in a domain that is for documentation.
func Placeholder(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	for _, domain := range reserved {
		if name == domain || strings.HasSuffix(name, "."+domain) {
			return true
		}
	}
	return false
}
