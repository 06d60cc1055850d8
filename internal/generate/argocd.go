package generate

import (
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// argoCD lets Argo CD run the addons: one that is there, or a small chart of the
// repository.
func (e addonGenerator) argoCD(c, g values) {
	const at = "gitops.argocd"
	for _, key := range []string{"verifyKeys", "interval", "notifications", "instance"} {
		delete(g, key)
	}
	g["engine"] = schemas.ArgoCD
	a := values{}
	put(e, a, at, "prune", 30, func(string) bool { return false })
	put(e, a, at, "selfHeal", 30, func(string) bool { return false })
	if e.is(at+" managed", 50) {
		g["components"] = schemas.Managed
		e.argoChart(c)
	} else {
		delete(g, "knownHosts")
		put(e, a, at, "namespace", 40, func(string) string { return "argo-cd" })
	}
	section(g, "argocd", a)
}

// argoChart is Argo CD as far as others look at it: its kinds, what it is told, and what
// runs.
func (e addonGenerator) argoChart(c values) {
	folder := e.chart("argocd")
	text := ""
	for _, kind := range []string{"Application", "AppProject"} {
		plural := strings.ToLower(kind) + "s"
		text += "---\n" + encode(values{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": values{"name": plural + ".argoproj.io"},
			"spec": values{
				"group": "argoproj.io", "scope": "Namespaced", "names": values{"kind": kind, "plural": plural},
				"versions": []values{{"name": "v1alpha1", "served": true, "storage": true, "schema": values{"openAPIV3Schema": values{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
			},
		})
	}
	e.files[folder+"/templates/crds.yaml"] = text
	e.files[folder+"/templates/config.yaml"] = encode(values{"apiVersion": "v1", "kind": "ConfigMap", "metadata": values{"name": "argocd-cm", "namespace": "argocd"}}) +
		"---\n" + encode(values{"apiVersion": "v1", "kind": "ConfigMap", "metadata": values{"name": "argocd-ssh-known-hosts-cm", "namespace": "argocd"}})
	text = ""
	for _, w := range []struct{ kind, name string }{{"StatefulSet", "argocd-application-controller"}, {"Deployment", "argocd-repo-server"}} {
		kind, name := w.kind, w.name
		labels := values{"app.kubernetes.io/name": name}
		spec := values{"selector": values{"matchLabels": labels}, "template": values{
			"metadata": values{"labels": labels},
			"spec":     values{"containers": []values{{"name": "argocd", "image": "quay.io/argoproj/argocd:v3.5.7"}}},
		}}
		if kind == "StatefulSet" {
			spec["serviceName"] = name
		}
		text += "---\n" + encode(values{"apiVersion": "apps/v1", "kind": kind, "metadata": values{"name": name, "namespace": "argocd"}, "spec": spec})
	}
	e.files[folder+"/templates/workloads.yaml"] = text
	inner(c, "addons")["argocd"] = values{"source": values{"chart": values{"path": folder}}}
}
