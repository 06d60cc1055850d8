package catalogue

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/schemas"
)

// HTTPSComponent is where the component is in a rendered tree.
const HTTPSComponent = "components/https"

const (
	// What has it set to off is left as it is.
	httpsAnnotation = "talosgen.dev/https"
	// How many hosts an Ingress has, if they are more than one.
	hostsAnnotation = "talosgen.dev/hosts"
	// The most of them.
	mostHosts = 5
)

// HTTPS is a component of kustomize that gives each Ingress and HTTPRoute of the
// kustomization that includes it HTTPS: certificates for its hosts, the way from HTTP
// to HTTPS, and if asked the mark that external-dns looks for. False without an
// issuer.
func HTTPS(given Facts) (manifest.Object, bool) {
	f := web{&facts{Facts: given}}
	if len(f.Cluster.Certificates.Issuers) == 0 {
		return nil, false
	}
	patches := items{f.ingressAnnotationPatch(), ingressHostPatch()}
	for n := 2; n <= mostHosts; n++ {
		patches = append(patches, ingressMoreHostsPatch(n))
	}
	if f.Cluster.Ingress.Gateway.Controller != schemas.None {
		patches = append(patches, routePatch())
	}
	if f.Cluster.ExternalDNS.Annotated {
		patches = append(patches, routeAnnotationPatch())
	}
	return newObject("kustomize.config.k8s.io/v1alpha1", "Component", "", "https", fields{"patches": patches}), true
}

// selected are the objects of a kind that a patch changes.
func selected(group, kind string, conditions ...string) fields {
	conditions = append([]string{httpsAnnotation + "!=off"}, conditions...)
	return fields{"group": group, "kind": kind, "annotationSelector": strings.Join(conditions, ",")}
}

const ingressGroup = "networking.k8s.io"

// ingressAnnotationPatch says who signs the certificates of Ingresses, and sends plain
// HTTP to HTTPS: each controller reads its own annotation.
func (f web) ingressAnnotationPatch() fields {
	annotations := map[string]string{
		certGroup + "/cluster-issuer":              f.Cluster.Certificates.Issuers[0].Name,
		"nginx.ingress.kubernetes.io/ssl-redirect": "true",
		"ingress.cilium.io/force-https":            "enabled",
	}
	if f.Cluster.Ingress.Gateway.Controller == schemas.TraefikGateway {
		annotations["traefik.ingress.kubernetes.io/router.middlewares"] = f.traefikMiddleware()
	}
	if f.Cluster.ExternalDNS.Annotated {
		annotations[dnsAnnotation] = "true"
	}
	return mergePatch(ingressGroup, "Ingress", annotations)
}

func routeAnnotationPatch() fields {
	return mergePatch(gatewayGroup, "HTTPRoute", map[string]string{dnsAnnotation: "true"})
}

// mergePatch sets annotations; the name in it is none, as the target says whose they
// are.
func mergePatch(group, kind string, annotations map[string]string) fields {
	o := annotated(newObject(group+"/v1", kind, "", "any", nil), annotations)
	return fields{"target": selected(group, kind), "patch": yamlText(o)}
}

// ingressHostPatch gives an Ingress a certificate for its first host, in a Secret of
// the same name: hosts are told apart by their names, and Secrets too.
func ingressHostPatch() fields {
	return fields{"target": selected(ingressGroup, "Ingress"), "patch": yamlText([]jsonOperation{
		{Op: "add", Path: "/spec/tls", Value: []map[string]any{{"hosts": []string{}}}},
		{Op: "copy", From: "/spec/rules/0/host", Path: "/spec/tls/0/secretName"},
		{Op: "copy", From: "/spec/rules/0/host", Path: "/spec/tls/0/hosts/-"},
	})}
}

// ingressMoreHostsPatch adds the host with a number, to Ingresses that have so many.
func ingressMoreHostsPatch(n int) fields {
	var counts []string
	for i := n; i <= mostHosts; i++ {
		counts = append(counts, strconv.Itoa(i))
	}
	return fields{
		"target": selected(ingressGroup, "Ingress", hostsAnnotation+" in ("+strings.Join(counts, ",")+")"),
		"patch": yamlText([]jsonOperation{
			{Op: "copy", From: "/spec/rules/" + strconv.Itoa(n-1) + "/host", Path: "/spec/tls/0/hosts/-"},
		}),
	}
}

// routePatch attaches HTTPRoutes to the Gateway, which has the certificates and takes
// routes of other namespaces at HTTPS alone.
func routePatch() fields {
	parent := map[string]any{"group": gatewayGroup, "kind": "Gateway", "namespace": gatewayNamespace, "name": publicGateway}
	return fields{"target": selected(gatewayGroup, "HTTPRoute"), "patch": yamlText([]jsonOperation{
		{Op: "add", Path: "/spec/parentRefs", Value: []map[string]any{parent}},
	})}
}

// jsonOperation is one of a JSON patch.
type jsonOperation struct {
	Op    string `yaml:"op"`
	From  string `yaml:"from,omitempty"`
	Path  string `yaml:"path"`
	Value any    `yaml:"value,omitempty"`
}

// yamlText is a patch as text.
func yamlText(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		panic(err) // it is made of texts, lists and mappings
	}
	return string(text)
}
