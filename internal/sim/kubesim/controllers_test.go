package kubesim

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bed is an API whose clock a test moves.
type bed struct {
	*testing.T
	*API
	at    time.Time
	state Cluster
}

func newBed(t *testing.T) *bed {
	b := &bed{T: t, at: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), state: Cluster{Ready: 2, Pods: 10 * time.Second}}
	b.API = New("v1.36.4", func() time.Time { return b.at })
	for _, name := range []string{"a", "b", "c"} {
		b.Put(object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"disk": name}}})
	}
	return b
}

// apply applies an object as somebody.
func (b *bed) apply(o object) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.applyAs("somebody", &unstructured.Unstructured{Object: o}); err != nil {
		b.Fatal(err)
	}
}

// status is a field of the status of an object, after some time.
func (b *bed) status(after time.Duration, kind, namespace, name string, path ...string) string {
	b.at = b.at.Add(after)
	b.Settle(b.state)
	value, _, _ := unstructured.NestedFieldNoCopy(b.Get(kind, namespace, name), append([]string{"status"}, path...)...)
	return fmt.Sprint(value)
}

func workload(kind string, spec object) object {
	return object{"apiVersion": "apps/v1", "kind": kind, "metadata": object{"namespace": "default", "name": "web"}, "spec": spec}
}

// TestWorkloads: pods take their time, and after a change again; without a node
// there are none, but nobody waits for none either.
func TestWorkloads(t *testing.T) {
	b := newBed(t)
	b.apply(workload("Deployment", object{"replicas": int64(2)}))
	b.apply(workload("DaemonSet", object{}))
	for _, step := range []struct {
		after       time.Duration
		kind, field string
		want        string
	}{
		{0, "Deployment", "readyReplicas", "<nil>"},
		{0, "DaemonSet", "numberReady", "0"},
		{10 * time.Second, "Deployment", "readyReplicas", "2"},
		{0, "DaemonSet", "numberReady", "3"},
		{0, "Deployment", "observedGeneration", "1"},
	} {
		if got := b.status(step.after, step.kind, "default", "web", step.field); got != step.want {
			t.Errorf("%s %s after %s: %s, want %s", step.kind, step.field, step.after, got, step.want)
		}
	}
	b.apply(workload("Deployment", object{"replicas": int64(2)}))
	if got := b.status(0, "Deployment", "default", "web", "readyReplicas"); got != "2" {
		t.Errorf("applied as it is: %s are ready", got)
	}
	b.apply(workload("Deployment", object{"replicas": int64(4)}))
	if got := b.status(0, "Deployment", "default", "web", "readyReplicas"); got != "<nil>" {
		t.Errorf("changed just now: %s are ready", got)
	}
	b.state.Ready = 0
	if got := b.status(time.Minute, "Deployment", "default", "web", "observedGeneration"); got != "2" {
		t.Errorf("generation %s", got)
	}
	if got := b.status(0, "Deployment", "default", "web", "readyReplicas"); got != "<nil>" {
		t.Errorf("without a node: %s are ready", got)
	}
	b.apply(workload("DaemonSet", object{"template": object{"spec": object{"nodeSelector": object{"disk": "a"}}}}))
	if got := b.status(time.Minute, "DaemonSet", "default", "web", "desiredNumberScheduled"); got != "1" {
		t.Errorf("of one node: %s", got)
	}
	b.apply(workload("Deployment", object{"replicas": int64(0)}))
	if got := b.status(0, "Deployment", "default", "web", "replicas"); got != "0" {
		t.Errorf("none are wanted: %s", got)
	}
}

// TestPutStays: what a test has put there is as it was put.
func TestPutStays(t *testing.T) {
	b := newBed(t)
	o := workload("Deployment", object{})
	o["status"] = object{"readyReplicas": int64(7)}
	b.Put(o)
	if got := b.status(time.Hour, "Deployment", "default", "web", "readyReplicas"); got != "7" {
		t.Errorf("%s are ready", got)
	}
}

// fluxTree is a repository.
var fluxTree = fstest.MapFS{
	"rendered/dev/flux/manifests.yaml":                   {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: default}\n")},
	"rendered/dev/addons/kustomization.yaml":             {Data: []byte("resources: [web, secret.yaml]\n")},
	"rendered/dev/addons/secret.yaml":                    {Data: []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}\ndata: {a: ENC}\nsops: {mac: x}\n")},
	"rendered/dev/addons/unlisted.yaml":                  {Data: []byte("not: listed\n")},
	"rendered/dev/addons/web/deployment.yaml":            {Data: []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nspec: {replicas: 1}\n")},
	"rendered/dev/addons/web/kustomization.yaml":         {Data: []byte("resources: [deployment.yaml]\n")},
	"rendered/dev/other/definitely/not/a/manifest.notes": {Data: []byte("x")},
}

func kustomization(name string, spec object) object {
	spec["sourceRef"] = object{"kind": "GitRepository", "name": "git"}
	return object{
		"apiVersion": kustomizations + "/v1", "kind": "Kustomization", "metadata": object{"namespace": fluxNamespace, "name": name}, "spec": spec,
	}
}

// TestFlux: what Kustomizations lead to is applied in their order, as its owner,
// and removed when it is not there any more; what nobody can read is told.
func TestFlux(t *testing.T) {
	b := newBed(t)
	tree, failing := fluxTree, error(nil)
	b.state.Flux = &Flux{
		Installed: true, Revision: func(branch string) string { return branch + "@sha1:1" },
		Read: func(path string) ([]map[string]any, error) {
			if failing != nil {
				return nil, failing
			}
			return Manifests(tree, path)
		},
	}
	b.Settle(b.state)
	b.apply(kustomization("first", object{"path": "./rendered/dev/addons", "prune": true, "wait": true}))
	b.apply(kustomization("second", object{"path": "./rendered/dev/flux", "dependsOn": []any{object{"name": "first"}}}))
	ready := func(after time.Duration, name string) string {
		conditions := b.status(after, "Kustomization", fluxNamespace, name, "conditions")
		return conditions
	}
	want := func(got, text string) {
		t.Helper()
		if !strings.Contains(got, text) {
			t.Errorf("%s, without %q", got, text)
		}
	}
	want(ready(0, "first"), "Source artifact not found")
	b.apply(object{"apiVersion": sources + "/v1", "kind": "GitRepository", "metadata": object{"namespace": fluxNamespace, "name": "git"},
		"spec": object{"ref": object{"branch": "main"}}})
	want(b.status(0, "GitRepository", fluxNamespace, "git", "artifact"), "main@sha1:1")
	want(ready(0, "first"), "waits for Deployment/default/web")
	want(ready(0, "second"), "dependency 'flux-system/first' is not ready")
	b.status(10*time.Second, "Deployment", "default", "web")
	want(ready(0, "first"), "status:True")
	want(ready(0, "second"), "Applied revision: main@sha1:1")
	if s := b.Get("Secret", "default", "s"); s == nil || s["data"] != nil || s["sops"] != nil {
		t.Errorf("the Secret is %v", s)
	}
	if b.Get("ConfigMap", "default", "own") == nil {
		t.Error("what the second one leads to is not there")
	}

	tree = fstest.MapFS{"rendered/dev/addons/secret.yaml": fluxTree["rendered/dev/addons/secret.yaml"], "rendered/dev/flux/manifests.yaml": fluxTree["rendered/dev/flux/manifests.yaml"]}
	ready(again, "first")
	if b.Get("Deployment", "default", "web") != nil {
		t.Error("what is not in Git any more was not removed")
	}
	failing = errors.New("no such path")
	want(ready(again, "first"), "no such path")
}

// TestFluxOperator: with the operator's FluxInstance come the kinds of Flux and what
// makes it look, patched; what another Flux had made of that becomes the operator's, and
// no Kustomization removes it or applies it again.
func TestFluxOperator(t *testing.T) {
	b := newBed(t)
	tree := fstest.MapFS{"flux/own.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: default}\n")}}
	b.state.Flux = &Flux{Revision: func(branch string) string { return branch + "@sha1:1" }, Read: func(path string) ([]map[string]any, error) { return Manifests(tree, path) }}
	settle := func() {
		b.at = b.at.Add(15 * time.Second)
		for range 4 { // what one round makes, the next one finds
			b.Settle(b.state)
		}
	}
	b.apply(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": fluxNamespace}})
	b.mu.Lock()
	b.define(parseKinds(fluxInstances + "/v1 fluxinstances FluxInstance")...)
	b.mu.Unlock()
	instance := func(controllers ...any) object {
		return object{"apiVersion": fluxInstances + "/v1", "kind": fluxInstance, "metadata": object{"name": "flux", "namespace": fluxNamespace}, "spec": object{
			"components": controllers, "sync": object{"kind": "GitRepository", "name": "all", "ref": "refs/heads/main", "path": "./elsewhere", "url": "https://git.example.com/a"},
			"kustomize": object{"patches": []any{
				object{"target": object{"kind": "Kustomization", "name": "all"}, "patch": "- op: replace\n  path: /spec/path\n  value: ./flux\n"},
				object{"patch": "apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n"},
			}},
		}}
	}
	b.apply(instance("source-controller", "kustomize-controller"))
	settle()
	if b.Get("Deployment", fluxNamespace, "source-controller") != nil {
		t.Error("Flux was installed before its operator ran")
	}
	operator := workload("Deployment", object{})
	operator["metadata"] = object{"namespace": fluxNamespace, "name": fluxOperator}
	b.apply(operator)
	for range 4 { // pods of the operator, pods of Flux, and what they do
		settle()
	}
	if got := b.status(0, fluxInstance, fluxNamespace, "flux", "conditions"); !strings.Contains(got, "status:True") {
		t.Errorf("the instance says %s", got)
	}
	root := b.Get("Kustomization", fluxNamespace, "all")
	if path, _, _ := unstructured.NestedString(root, "spec", "path"); path != "./flux" || b.Get("ConfigMap", "default", "own") == nil {
		t.Errorf("the Kustomization is of %q", path)
	}
	if b.Get("CustomResourceDefinition", "", "alerts."+notifications) != nil {
		t.Error("kinds are there whose controller nobody asked for")
	}

	// A Kustomization that had the controllers before neither removes nor applies them.
	b.mu.Lock()
	i := b.index("Deployment", fluxNamespace, "source-controller")
	b.prune(&unstructured.Unstructured{Object: root}, []objectID{idOf(b.objects[i])}, nil)
	b.mu.Unlock()
	if b.Get("Deployment", fluxNamespace, "source-controller") == nil {
		t.Error("what is the operator's was removed")
	}
	b.apply(object{"apiVersion": fluxInstances + "/v1", "kind": fluxInstance, "metadata": object{"name": "flux", "namespace": fluxNamespace}, "spec": object{
		"kustomize": object{"patches": []any{object{"patch": "a: [b"}}},
	}})
	if got := b.status(0, fluxInstance, fluxNamespace, "flux", "conditions"); !strings.Contains(got, "build failed") {
		t.Errorf("a patch that is none: %s", got)
	}
}

// TestFluxOfFlux: a Kustomization may lead to others. What it changes of them, or
// removes, is so at once, and nothing of theirs comes back.
func TestFluxOfFlux(t *testing.T) {
	b := newBed(t)
	below := func(path string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: second, namespace: flux-system}\n" +
			"spec: {path: " + path + ", prune: true, sourceRef: {kind: GitRepository, name: git}}\n"
	}
	config := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\n")}
	}
	commits := []fstest.MapFS{
		{"flux/a.yaml": config("own"), "flux/second.yaml": {Data: []byte(below("old"))}, "old/a.yaml": config("old")},
		{"flux/a.yaml": config("own"), "flux/second.yaml": {Data: []byte(below("new"))}, "new/a.yaml": config("new")},
		{"flux/a.yaml": config("own")},
	}
	commit := 0
	b.state.Flux = &Flux{
		Installed: true, Revision: func(branch string) string { return fmt.Sprintf("%s@sha1:%d", branch, commit) },
		Read: func(path string) ([]map[string]any, error) { return Manifests(commits[commit], path) },
	}
	b.Settle(b.state)
	b.apply(kustomization("first", object{"path": "./flux", "prune": true}))
	b.apply(object{"apiVersion": sources + "/v1", "kind": "GitRepository", "metadata": object{"namespace": fluxNamespace, "name": "git"},
		"spec": object{"ref": object{"branch": "main"}}})
	for i, want := range []string{"old", "new", "<nil>"} {
		commit = i
		b.Settle(b.state)
		b.Settle(b.state)
		path, _, _ := unstructured.NestedFieldNoCopy(b.Get("Kustomization", fluxNamespace, "second"), "spec", "path")
		if fmt.Sprint(path) != want {
			t.Errorf("commit %d: the path is %v, want %s", i, path, want)
		}
	}
	if b.Get("ConfigMap", "default", "old") != nil {
		t.Error("what the old path led to is still there")
	}
}
