package kubetree

import (
	"strings"
	"testing"
)

func application(name, path, more string) string {
	return "---\n{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: " + name + ", namespace: argocd}, spec: {source: {path: " + path + more + "}, destination: {server: 'https://kubernetes.default.svc', namespace: argocd}}}\n"
}

// The Application that all others come from is talosgen's; they come from it, in their
// order. What Argo CD needs to run, and namespaces, are made before.
func TestReadArgoCD(t *testing.T) {
	files := map[string]string{
		"bootstrap/argocd/manifests.yaml": application("all", "rendered/dev/argocd", "") + object("argoproj.io/v1alpha1", "AppProject", "all"),
		"bootstrap/argocd/secret.yaml":    object("v1", "Secret", "git"),
		"bootstrap/web/secret-web.yaml":   object("v1", "Secret", "web"),
		"argocd/kustomization.yaml":       list("components.yaml", "manifests.yaml"),
		"argocd/components.yaml":          object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "applications") + object("apps/v1", "StatefulSet", "controller"),
		"argocd/manifests.yaml":           application("crds", "rendered/dev/addons/crds", "") + application("apps", "rendered/dev/addons/apps", "") + application("own", "elsewhere", "") + object("argoproj.io/v1alpha1", "AppProject", "apps"),
		"addons/crds/kustomization.yaml":  list("a.yaml"),
		"addons/crds/a.yaml":              object("v1", "Namespace", "web"),
		"addons/apps/kustomization.yaml":  list("b.yaml"),
		"addons/apps/b.yaml":              object("v1", "ConfigMap", "b"),
	}
	const want = `sources Application/all talosgen rendered/dev/bootstrap/argocd/manifests.yaml
sources AppProject/all talosgen rendered/dev/bootstrap/argocd/manifests.yaml
provider Secret/git talosgen rendered/dev/bootstrap/argocd/secret.yaml
provider Secret/web talosgen rendered/dev/bootstrap/web/secret-web.yaml
definitions CustomResourceDefinition/applications Application argocd/all seed rendered/dev/argocd/components.yaml
argocd StatefulSet/controller Application argocd/all seed rendered/dev/argocd/components.yaml
sources Application/crds Application argocd/all rendered/dev/argocd/manifests.yaml
sources Application/apps Application argocd/all rendered/dev/argocd/manifests.yaml
sources Application/own Application argocd/all rendered/dev/argocd/manifests.yaml
sources AppProject/apps Application argocd/all rendered/dev/argocd/manifests.yaml
argocd ConfigMap/b Application argocd/apps rendered/dev/addons/apps/b.yaml
definitions Namespace/web Application argocd/crds seed rendered/dev/addons/crds/a.yaml`
	for _, place := range places {
		got, err := read(elsewhere(files, place), nil)
		if err != nil || strings.Join(got, "\n") != want {
			t.Errorf("at %s: got (%v)\n%s\nwant\n%s", place, err, strings.Join(got, "\n"), want)
		}
	}
}

// What Argo CD would change on its way is not made for it before.
func TestReadArgoCDBad(t *testing.T) {
	_, err := read(map[string]string{
		"bootstrap/argocd/manifests.yaml": application("all", "rendered/dev/argocd", ", kustomize: {namePrefix: x}"),
		"argocd/kustomization.yaml":       list("a.yaml"),
		"argocd/a.yaml":                   object("v1", "ConfigMap", "a"),
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "rendered/dev/argocd/a.yaml: is made by talosgen before Argo CD runs, but Application argocd/all changes it: spec.source.kustomize") {
		t.Error(err)
	}
}
