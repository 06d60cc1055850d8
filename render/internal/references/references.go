// Package references finds objects that name what nothing makes: a Kustomization
// whose path or dependency is not there, a pod with a Secret, ConfigMap, service
// account or volume class that no manifest has, a binding of a role that does
// not exist, an object in a namespace that nobody makes. It is pure.
package references

import (
	"cmp"
	"slices"

	"github.com/talosgen/talosgen/internal/manifest"
)

// Dangling is a reference to what is not there.
type Dangling struct {
	From manifest.ID
	// The field that refers, such as spec.template.spec.volumes[0].secret.
	Path string
	// What it refers to; its group is left out.
	To   manifest.ID
	Hint string
}

// Sources is what references may lead to.
type Sources struct {
	// All objects that anybody makes, and what else there will be.
	Objects []manifest.Object
	Made    []manifest.ID
	// Tells whether something that runs makes an object of a name without a group;
	// may be nil.
	Makes func(manifest.ID) bool
	// Tells whether a directory of the repository is there; nil if none is to be
	// looked for.
	Directory func(path string) bool
	// Elsewhere are the Kustomizations whose directories are in another repository.
	Elsewhere map[manifest.ID]bool
}

// Check finds the references of the objects that lead to nothing. It does not
// complain where something that is not known may make what is missing: in
// namespaces into which Helm releases go, and of Secrets that others generate;
// see makes.go.
func Check(w Sources) []Dangling {
	c := checker{sources: w, known: map[manifest.ID]bool{}, opaque: map[string]bool{}, secrets: map[string]bool{}}
	for _, name := range namespaces {
		c.namespace(name)
	}
	for _, id := range append(slices.Clone(always), w.Made...) {
		c.add(id)
	}
	for _, o := range w.Objects {
		c.add(o.ID())
		c.makes(o)
	}
	c.madeByJobs()
	if !slices.ContainsFunc(w.Objects, isFlux) {
		c.fluxElsewhere()
	}
	if !slices.ContainsFunc(w.Objects, isArgo) {
		c.argoElsewhere()
	}
	for _, o := range w.Objects {
		c.from(o)
	}
	return c.found
}

// What every cluster has.
var (
	namespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}
	always     = []manifest.ID{
		{Kind: "PriorityClass", Name: "system-cluster-critical"}, {Kind: "PriorityClass", Name: "system-node-critical"},
		{Kind: "ClusterRole", Name: "cluster-admin"}, {Kind: "ClusterRole", Name: "admin"},
		{Kind: "ClusterRole", Name: "edit"}, {Kind: "ClusterRole", Name: "view"},
		{Kind: "Role", Namespace: "kube-system", Name: "extension-apiserver-authentication-reader"},
		{Kind: "ConfigMap", Namespace: "kube-system", Name: "extension-apiserver-authentication"},
	}
)

const rbacGroup = "rbac.authorization.k8s.io"

type checker struct {
	sources Sources
	known   map[manifest.ID]bool // without groups
	opaque  map[string]bool      // namespaces into which goes what is not known
	secrets map[string]bool      // namespaces in which Jobs make Secrets
	found   []Dangling
}

func (c *checker) add(id manifest.ID) {
	id.Group = ""
	c.known[id] = true
}

// namespace notes a namespace, and what Kubernetes makes in each.
func (c *checker) namespace(name string) {
	c.add(manifest.ID{Kind: "Namespace", Name: name})
	c.add(manifest.ID{Kind: "ServiceAccount", Namespace: name, Name: "default"})
	c.add(manifest.ID{Kind: "ConfigMap", Namespace: name, Name: "kube-root-ca.crt"})
}

// need notes a reference that leads nowhere. An empty name refers to nothing.
func (c *checker) need(from manifest.Object, path string, to manifest.ID, hint string) {
	if to.Name == "" || c.known[to] || to.Namespace != "" && c.opaque[to.Namespace] {
		return
	}
	if to.Kind == "Secret" && c.secrets[to.Namespace] || c.sources.Makes != nil && c.sources.Makes(to) {
		return
	}
	c.found = append(c.found, Dangling{From: from.ID(), Path: path, To: to, Hint: hint})
}

// from follows all references of an object.
func (c *checker) from(o manifest.Object) {
	if ns := o.Namespace(); ns != "" {
		c.need(o, "metadata.namespace", manifest.ID{Kind: "Namespace", Name: ns}, "an addon's namespace is made if the addon names it")
	}
	if spec, path := podSpec(o); spec != nil {
		c.pod(o, spec, path)
	}
	switch o.ID().Group + "/" + o.Kind() {
	case "rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRoleBinding":
		c.binding(o)
	case "kustomize.toolkit.fluxcd.io/Kustomization":
		c.kustomization(o)
	case "helm.toolkit.fluxcd.io/HelmRelease":
		c.release(o)
	case fluxInstance:
		c.instance(o)
	case "argoproj.io/Application":
		c.application(o)
	case "notification.toolkit.fluxcd.io/Alert":
		c.flux(o, "spec.providerRef", manifest.Section(o, "spec", "providerRef"), "Provider")
	case "notification.toolkit.fluxcd.io/Provider":
		c.flux(o, "spec.secretRef", manifest.Section(o, "spec", "secretRef"), "Secret")
	case "/PersistentVolumeClaim":
		c.class(o, manifest.Section(o, "spec"), "spec")
	case "apps/StatefulSet":
		for i, claim := range manifest.Maps(manifest.Section(o, "spec")["volumeClaimTemplates"]) {
			c.class(o, manifest.Section(claim, "spec"), index("spec.volumeClaimTemplates", i)+".spec")
		}
	case "storage.k8s.io/StorageClass":
		c.storage(o)
	case "admissionregistration.k8s.io/ValidatingWebhookConfiguration", "admissionregistration.k8s.io/MutatingWebhookConfiguration":
		for i, hook := range manifest.Maps(o["webhooks"]) {
			c.service(o, manifest.Section(hook, "clientConfig", "service"), index("webhooks", i)+".clientConfig.service")
		}
	case "apiregistration.k8s.io/APIService":
		c.service(o, manifest.Section(o, "spec", "service"), "spec.service")
	case "networking.k8s.io/Ingress":
		c.need(o, "spec.ingressClassName", manifest.ID{Kind: "IngressClass", Name: manifest.Text(manifest.Section(o, "spec")["ingressClassName"])}, "")
	}
}

func (c *checker) class(o manifest.Object, claim map[string]any, path string) {
	c.need(o, path+".storageClassName", manifest.ID{Kind: "StorageClass", Name: manifest.Text(claim["storageClassName"])}, "")
}

func (c *checker) service(o manifest.Object, ref map[string]any, path string) {
	c.need(o, path, manifest.ID{Kind: "Service", Namespace: manifest.Text(ref["namespace"]), Name: manifest.Text(ref["name"])}, "")
}

// storage follows the Secrets that the parameters of a storage class name
// (kubernetes-csi.github.io/docs/secrets-and-credentials-storage-class.html).
func (c *checker) storage(o manifest.Object) {
	parameters := manifest.Section(o, "parameters")
	for _, use := range []string{"provisioner", "node-publish", "node-stage", "controller-publish", "controller-expand", "node-expand"} {
		prefix := "csi.storage.k8s.io/" + use + "-secret-"
		name := manifest.Text(parameters[prefix+"name"])
		if !isTemplate(name) {
			c.need(o, "parameters."+prefix+"name",
				manifest.ID{Kind: "Secret", Namespace: manifest.Text(parameters[prefix+"namespace"]), Name: name}, "")
		}
	}
}

func (c *checker) binding(o manifest.Object) {
	role := roleOf(o)
	if !isSystem(role.Name) {
		c.need(o, "roleRef", role, "")
	}
	for i, subject := range manifest.Maps(o["subjects"]) {
		if manifest.Text(subject["kind"]) == "ServiceAccount" {
			namespace := cmp.Or(manifest.Text(subject["namespace"]), o.Namespace()) // as Kubernetes takes it
			c.need(o, index("subjects", i), manifest.ID{Kind: "ServiceAccount", Namespace: namespace, Name: manifest.Text(subject["name"])}, "")
		}
	}
}
