package kubesim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Cilium's operator defines the kinds of Cilium when it runs, not before; so
// does Talos its own. Flux says of each object of a kind that is not defined what
// it waits for, and applies it once that is there.
func TestOperatorsDefineKinds(t *testing.T) {
	policy := object{"apiVersion": "cilium.io/v2", "kind": "CiliumClusterwideNetworkPolicy", "metadata": object{"name": "deny-metadata"}, "spec": object{}}
	account := object{"apiVersion": "talos.dev/v1alpha1", "kind": "ServiceAccount", "metadata": object{"namespace": "kube-system", "name": "backup"}, "spec": object{}}
	b := newBed(t)
	b.state.Flux = &Flux{Installed: true, Revision: func(string) string { return "main@sha1:1" }, Read: func(path string) ([]map[string]any, error) {
		return map[string][]map[string]any{"policies": {policy}, "backup": {account}}[path], nil
	}}
	b.Settle(b.state) // Flux is installed
	b.apply(object{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": object{"namespace": "flux-system", "name": "x"}, "spec": object{"ref": object{"branch": "main"}}})
	for _, name := range []string{"policies", "backup"} {
		b.apply(object{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": object{"namespace": "flux-system", "name": name}, "spec": object{
			"path": "./" + name, "sourceRef": object{"kind": "GitRepository", "name": "x"},
		}})
	}
	operator := workload("Deployment", object{})
	operator["metadata"] = object{"namespace": "kube-system", "name": "cilium-operator"}
	for _, step := range []struct {
		what             string
		do               func()
		after            time.Duration
		policies, backup string // the end of what the Kustomizations say
	}{
		{"nothing runs", func() {}, time.Minute, `no matches for kind "CiliumClusterwideNetworkPolicy" in version "cilium.io/v2"`, `no matches for kind "ServiceAccount" in version "talos.dev/v1alpha1"`},
		{"the operator is wanted", func() { b.apply(operator) }, 0, `in version "cilium.io/v2"`, `in version "talos.dev/v1alpha1"`},
		{"its pods come", func() {}, 5 * time.Second, `in version "cilium.io/v2"`, `in version "talos.dev/v1alpha1"`},
		{"it runs", func() {}, 6 * time.Second, "main@sha1:1", `in version "talos.dev/v1alpha1"`},
		{"Talos is told to let pods in", func() { b.state.TalosAccess = true }, 0, "main@sha1:1", "main@sha1:1"},
	} {
		step.do()
		b.at = b.at.Add(step.after)
		for range 2 { // what one round defines, the next one applies
			b.Settle(b.state)
		}
		for name, want := range map[string]string{"policies": step.policies, "backup": step.backup} {
			conditions, _, _ := unstructured.NestedSlice(b.Get("Kustomization", "flux-system", name), "status", "conditions")
			if got := fmt.Sprint(conditions[0].(object)["message"]); !strings.HasSuffix(got, want) {
				t.Errorf("%s: %s says %q, not %q", step.what, name, got, want)
			}
		}
	}
	if b.Get("CiliumClusterwideNetworkPolicy", "", "deny-metadata") == nil {
		t.Error("Flux has not applied the policy")
	}
}
