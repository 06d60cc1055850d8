package generate

import "github.com/talosgen/talosgen/schemas"

// operator lets the Flux Operator install Flux: a small chart of the repository stands
// for it.
func (e addonGenerator) operator(c, g values) {
	const at = "gitops.instance"
	g["components"] = schemas.Operator
	folder := e.chart("flux-operator")
	e.files[folder+"/templates/crds.yaml"] = encode(values{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": values{"name": "fluxinstances.fluxcd.controlplane.io"},
		"spec": values{
			"group": "fluxcd.controlplane.io", "scope": "Namespaced", "names": values{"kind": "FluxInstance", "plural": "fluxinstances"},
			"versions": []values{{"name": "v1", "served": true, "storage": true, "schema": values{"openAPIV3Schema": values{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	})
	e.files[folder+"/templates/operator.yaml"] = encode(values{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": values{"name": "flux-operator", "namespace": "flux-system"},
		"spec": values{
			"selector": values{"matchLabels": values{"app": "flux-operator"}},
			"template": values{
				"metadata": values{"labels": values{"app": "flux-operator"}},
				"spec":     values{"containers": []values{{"name": "manager", "image": "registry.example.com/flux-operator:v0.58.1"}}},
			},
		},
	})
	inner(c, "addons")["flux-operator"] = values{"source": values{"chart": values{"path": folder}}}
	i := values{}
	put(e, i, at, "version", 40, func(string) string { return "2.9.4" })
	put(e, i, at, "registry", 30, func(name string) string {
		i["variant"] = one(e, name+" variant", "upstream-alpine", "enterprise-distroless")
		return "registry.example.com/fluxcd"
	})
	put(e, i, at, "artifact", 20, func(string) string { return "oci://registry.example.com/flux-operator-manifests" })
	put(e, i, at, "controllers", 30, func(string) []string {
		return []string{"source-controller", "kustomize-controller", "notification-controller"}
	})
	e.choice(i, at, "size", 50, "small", "medium", "large")
	put(e, i, at, "networkPolicy", 20, func(string) bool { return false })
	put(e, i, at, "multitenant", 20, func(string) bool { return true })
	put(e, i, at, "patches", 40, func(name string) []values {
		target := values{"kind": "Deployment"}
		for key, value := range map[string]string{
			"group": "apps", "version": "v1", "name": "kustomize-controller", "labelSelector": "app=kustomize-controller", "annotationSelector": "!example.com/own",
		} {
			put(e, target, name+" target", key, 50, func(string) string { return value })
		}
		return []values{{"patch": "- op: add\n  path: /spec/template/spec/priorityClassName\n  value: system-cluster-critical\n", "target": target}}
	})
	section(g, "instance", i)
}
