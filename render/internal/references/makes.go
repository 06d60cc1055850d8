package references

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// makes notes what controllers make of an object.
func (c *checker) makes(o manifest.Object) {
	spec := manifest.Section(o, "spec")
	switch group := o.ID().Group; group + "/" + o.Kind() {
	case "helm.toolkit.fluxcd.io/HelmRelease":
		c.opaque[cmp.Or(manifest.Text(spec["targetNamespace"]), o.Namespace())] = true
	case fluxInstance:
		c.madeByInstance(o)
	case "cert-manager.io/Certificate":
		c.secret(o, manifest.Text(spec["secretName"]))
	case "cert-manager.io/Issuer":
		c.secret(o, manifest.Text(manifest.Section(spec, "acme", "privateKeySecretRef")["name"]))
	case "external-secrets.io/ExternalSecret":
		c.secret(o, cmp.Or(manifest.Text(manifest.Section(spec, "target")["name"]), o.Name()))
	case "bitnami.com/SealedSecret":
		c.secret(o, cmp.Or(manifest.Text(manifest.Section(spec, "template", "metadata")["name"]), o.Name()))
	case "talos.dev/ServiceAccount":
		c.secret(o, o.Name())
	case "networking.k8s.io/Ingress", "gateway.networking.k8s.io/Gateway":
		c.certificates(o, spec)
	case "rbac.authorization.k8s.io/Role":
		c.madeByRole(o)
	case "/Namespace":
		c.namespace(o.Name())
	default:
		for _, suffix := range generated[group+"/"+o.Kind()] {
			c.secret(o, o.Name()+suffix)
		}
		if isCustom(group) {
			c.secret(o, o.Name())
			c.named(o, spec)
		}
	}
}

// secret notes that a Secret is made beside an object.
func (c *checker) secret(o manifest.Object, name string) {
	if name != "" {
		c.add(manifest.ID{Kind: "Secret", Namespace: o.Namespace(), Name: name})
	}
}

// certificates notes the Secrets that cert-manager makes for what is annotated
// with an issuer (cert-manager.io/docs/usage/ingress and usage/gateway).
func (c *checker) certificates(o manifest.Object, spec map[string]any) {
	annotations := manifest.Section(o, "metadata", "annotations")
	if annotations["cert-manager.io/issuer"] == nil && annotations["cert-manager.io/cluster-issuer"] == nil {
		return
	}
	for _, tls := range manifest.Maps(spec["tls"]) {
		c.secret(o, manifest.Text(tls["secretName"]))
	}
	for _, listener := range manifest.Maps(spec["listeners"]) {
		for _, ref := range manifest.Maps(manifest.Section(listener, "tls")["certificateRefs"]) {
			c.secret(o, manifest.Text(ref["name"]))
		}
	}
}

// generated are the Secrets that operators make under names of their own: what
// follows the name of the resource.
var generated = map[string][]string{
	"postgresql.cnpg.io/Cluster":                 {"-app", "-superuser", "-ca", "-server", "-replication"},
	"rabbitmq.com/RabbitmqCluster":               {"-default-user", "-erlang-cookie"},
	"elasticsearch.k8s.elastic.co/Elasticsearch": {"-es-elastic-user", "-es-http-certs-public", "-es-http-ca-internal"},
	"kafka.strimzi.io/Kafka":                     {"-cluster-ca-cert", "-clients-ca-cert"},
	"k8s.keycloak.org/Keycloak":                  {"-initial-admin"},
}

// readers are the groups of custom resources that read Secrets and make none.
var readers = []string{"monitoring.coreos.com", "cilium.io", "cert-manager.io"}

// isCustom tells whether resources of a group may be there to make Secrets: they
// are neither Kubernetes' own nor Flux', nor known only to read.
func isCustom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") && !strings.HasSuffix(group, ".toolkit.fluxcd.io") &&
		!slices.Contains(readers, group)
}

// named notes every text of a custom resource as a Secret beside it: what it does
// with the name, only its operator knows.
func (c *checker) named(o manifest.Object, value any) {
	switch v := value.(type) {
	case string:
		c.secret(o, v)
	case map[string]any:
		for _, below := range v {
			c.named(o, below)
		}
	case []any:
		for _, below := range v {
			c.named(o, below)
		}
	}
}
