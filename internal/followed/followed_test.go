package followed

import (
	"testing"

	"github.com/talosgen/talosgen/internal/manifest"
)

func object(t *testing.T, text string) manifest.Object {
	t.Helper()
	objects, err := manifest.Parse("a.yaml", []byte(text))
	if err != nil || len(objects) != 1 {
		t.Fatal(objects, err)
	}
	return objects[0]
}

func TestLocal(t *testing.T) {
	flux := func(path string) string {
		return "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: talosgen}, spec: {path: " + path + "}}"
	}
	instance := func(path string) string {
		return "{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, metadata: {name: flux}, spec: {sync: {kind: GitRepository, path: " + path + "}}}"
	}
	argo := func(path string) string {
		return "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: talosgen}, spec: {source: {path: " + path + "}}}"
	}
	for _, c := range []struct{ root, path, below, local string }{
		{flux("./rendered/dev/flux"), "./rendered/dev/addons/apps", "addons/apps", "rendered/dev/addons/apps"},
		{flux("./rendered/dev/flux"), "./apps", "", "apps"},
		{flux("./rendered/dev/flux"), "./rendered/dev2/addons", "", "rendered/dev2/addons"},
		{flux("./rendered/dev/flux"), "rendered/dev", "", "rendered/dev"},
		// The repository of talosgen is a folder of the one that is followed.
		{flux("./infra/k8s/rendered/dev/flux"), "./infra/k8s/rendered/dev/addons/apps", "addons/apps", "rendered/dev/addons/apps"},
		{flux("./infra/k8s/rendered/dev/flux"), "infra/k8s/apps/", "", "apps"},
		{flux("./infra/k8s/rendered/dev/flux"), "./apps", "", "?"},
		{flux("./infra/k8s/rendered/dev/flux"), "rendered/dev/addons/apps", "", "?"},
		// Trees are copied to a place of their own.
		{flux("/clusters/dev/flux/"), "clusters/dev/addons/apps", "addons/apps", "rendered/dev/addons/apps"},
		{flux("clusters/dev/flux"), "apps", "", "?"},
		{instance("infra/rendered/dev/flux"), "infra/rendered/dev/flux", "flux", "rendered/dev/flux"},
		{argo("infra/rendered/dev/argocd"), "infra/rendered/dev/addons/apps", "addons/apps", "rendered/dev/addons/apps"},
		// One that follows something else says nothing.
		{flux("./apps"), "rendered/dev/addons/apps", "addons/apps", "rendered/dev/addons/apps"},
		{flux("./flux"), "rendered/dev/addons/apps", "addons/apps", "rendered/dev/addons/apps"},
	} {
		tree := Of("rendered/dev", []manifest.Object{object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"), object(t, c.root)})
		if below, inside := tree.Below(c.path); below != c.below && inside || inside != (c.below != "") {
			t.Errorf("%s: %s is %q in the tree, not %q", c.root, c.path, below, c.below)
		}
		local, known := tree.Local(c.path)
		if !known {
			local = "?"
		}
		if local != c.local {
			t.Errorf("%s: %s is at %q here, not %q", c.root, c.path, local, c.local)
		}
	}
	if local, known := (Tree{}).Local("./a/b"); local != "a/b" || !known {
		t.Errorf("without a tree: %q, %v", local, known)
	}
}
