package kubesim

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// argoTree is a tree that Argo CD runs: two steps in waves, the second with what stays.
func argoTree() fstest.MapFS {
	app := func(name, wave string) string {
		return "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  {name: " + name + ", namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io], annotations: {argocd.argoproj.io/sync-wave: '" + wave + "'}}\n" +
			"spec: {project: all, source: {path: " + name + ", targetRevision: main}, syncPolicy: {automated: {prune: true}}}\n"
	}
	return fstest.MapFS{
		"argocd/apps.yaml": {Data: []byte(app("first", "1") + app("second", "2"))},
		"first/web.yaml":   {Data: []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nspec: {replicas: 1}\n")},
		"second/own.yaml":  {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: default}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: stays, namespace: default, annotations: {argocd.argoproj.io/sync-options: 'Delete=false,Prune=false'}}\n")},
	}
}

// argoRuns lets Argo CD run a tree at a revision, which the Application all leads to, and
// returns what lets time pass.
func argoRuns(b *bed, tree fstest.MapFS, revision *string) func(after time.Duration) {
	b.state.Flux = &Flux{
		ArgoCD:   argoNamespace,
		Revision: func(branch string) string { return branch + "@sha1:" + *revision },
		Read:     func(path string) ([]map[string]any, error) { return Manifests(tree, path) },
	}
	return func(after time.Duration) {
		b.at = b.at.Add(after)
		for range 4 { // what one round makes, the next one finds
			b.Settle(b.state)
		}
	}
}

// applyRoot makes the Application of which the others are.
func (b *bed) applyRoot() {
	b.apply(object{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": object{"name": "all", "namespace": argoNamespace}, "spec": object{
		"project": "all", "source": object{"path": "argocd", "targetRevision": "main"}, "destination": object{"namespace": argoNamespace},
		"syncPolicy": object{"automated": object{"prune": true}},
	}})
}

func (b *bed) applyProject() {
	b.apply(object{"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": object{"name": "all", "namespace": argoNamespace}, "spec": object{}})
}

// TestArgoProject: an Application that is removed together with its project takes along what
// it ran only if the project waits for it.
func TestArgoProject(t *testing.T) {
	const finalizer = "resources-finalizer.argocd.argoproj.io"
	for finalizers, removed := range map[string]bool{finalizer: true, "": false} {
		b := newBed(t)
		revision, tree := "1", fstest.MapFS{
			"argocd/apps.yaml": {Data: []byte("apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: late, namespace: argocd, finalizers: [" + finalizers + "]}\nspec: {}\n---\n" +
				"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: late, namespace: argocd, finalizers: [" + finalizer + "]}\n" +
				"spec: {project: late, source: {path: late, targetRevision: main}, syncPolicy: {automated: {prune: true}}}\n")},
			"late/own.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: default}\n")},
		}
		settle := argoRuns(b, tree, &revision)
		settle(0)
		b.applyProject()
		b.applyRoot()
		settle(time.Minute)
		if b.Get("ConfigMap", "default", "own") == nil {
			t.Fatalf("finalizer %q: nothing runs", finalizers)
		}
		tree["argocd/apps.yaml"], revision = &fstest.MapFile{}, "2"
		settle(time.Minute)
		settle(time.Minute)
		for _, kind := range []string{"Application", "AppProject"} {
			if gone := b.Get(kind, argoNamespace, "late") == nil; gone != (removed || kind == "AppProject") {
				t.Errorf("finalizer %q: %s is gone: %v", finalizers, kind, gone)
			}
		}
		if gone := b.Get("ConfigMap", "default", "own") == nil; gone != removed {
			t.Errorf("finalizer %q: what it ran is gone: %v", finalizers, gone)
		}
	}
}

// TestArgoCD: an Application leads to others, one wave after the other; what is gone from
// Git goes, with an Application what it ran, and nothing that is to stay.
func TestArgoCD(t *testing.T) {
	b := newBed(t)
	tree, revision := argoTree(), "1"
	settle := argoRuns(b, tree, &revision)
	settle(0)
	b.applyRoot()
	if got := b.status(0, "Application", argoNamespace, "all", "conditions"); !strings.Contains(got, "project all which does not exist") {
		t.Errorf("without a project: %s", got)
	}
	b.applyProject()
	settle(time.Second)
	if b.Get("Deployment", "default", "web") == nil || b.Get("Application", argoNamespace, "second") != nil {
		t.Error("the second wave did not wait for the first")
	}
	settle(time.Minute)
	if got := b.status(0, "Application", argoNamespace, "all", "health", "status"); got != "Healthy" || b.Get("ConfigMap", "default", "own") == nil {
		t.Errorf("it is %s", got)
	}
	marks, _ := b.Get("ConfigMap", "default", "own")["metadata"].(object)["annotations"].(object)
	if marks[argoTracking] != "second:/ConfigMap:default/own" {
		t.Errorf("marked %v", marks)
	}
	tree["argocd/apps.yaml"] = &fstest.MapFile{Data: slices.Clone([]byte(strings.SplitAfter(string(tree["argocd/apps.yaml"].Data), "prune: true}}}\n")[0]))}
	revision = "2"
	settle(time.Minute)
	if b.Get("Application", argoNamespace, "second") != nil || b.Get("ConfigMap", "default", "own") != nil {
		t.Error("what is gone from Git is there")
	}
	if b.Get("ConfigMap", "default", "stays") == nil {
		t.Error("what was to stay is gone")
	}
}
