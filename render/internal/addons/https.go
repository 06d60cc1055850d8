package addons

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/config"
)

// withoutCertificate warns of Ingresses that ask for certificates, and not for all of
// their hosts: what includes the component https says how many it has.
func withoutCertificate(cfg *config.Config, made []madeAddon) (warnings diag.List) {
	for _, m := range made {
		for _, o := range m.objects {
			if id := o.ID(); id.Kind != "Ingress" || id.Group != "networking.k8s.io" || !asksForCertificate(o) {
				continue
			}
			covered, starred := coveredHosts(o)
			at := cfg.Near("addons." + m.addon.Name)
			if starred {
				warnings.Add(diag.New(at, "addon %s: %s asks for a Secret with a * in its name, which Kubernetes does not have", m.addon.Name, o.ID()).
					WithHint("write its spec.tls yourself, and keep the component from it with the annotation talosgen.dev/https: \"off\""))
			}
			var bare []string
			hosts := ingressHosts(o)
			for _, host := range hosts {
				if !slices.Contains(covered, host) {
					bare = append(bare, host)
				}
			}
			if len(bare) > 0 {
				warnings.Add(diag.New(at, "addon %s: %s has no certificate for %s", m.addon.Name, o.ID(), strings.Join(bare, ", ")).
					WithHint("with the component https, give it the annotation talosgen.dev/hosts: \"%d\", up to 5; else add the names to its spec.tls", len(hosts)))
			}
		}
	}
	return warnings
}

// asksForCertificate tells whether cert-manager makes certificates for an Ingress.
func asksForCertificate(o manifest.Object) bool {
	annotations := manifest.Section(o, "metadata", "annotations")
	return annotations["cert-manager.io/cluster-issuer"] != nil || annotations["cert-manager.io/issuer"] != nil
}

// coveredHosts are the hosts of the certificates of an Ingress, and whether one has a
// Secret whose name has a *.
func coveredHosts(o manifest.Object) (hosts []string, starred bool) {
	for _, tls := range manifest.Maps(manifest.Section(o, "spec")["tls"]) {
		starred = starred || strings.Contains(manifest.Text(tls["secretName"]), "*")
		list, _ := tls["hosts"].([]any)
		for _, host := range list {
			hosts = append(hosts, manifest.Text(host))
		}
	}
	return hosts, starred
}

// ingressHosts are the hosts of its rules.
func ingressHosts(o manifest.Object) (hosts []string) {
	for _, rule := range manifest.Maps(manifest.Section(o, "spec")["rules"]) {
		if host := manifest.Text(rule["host"]); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
