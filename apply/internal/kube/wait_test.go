package kube

import (
	"testing"

	"github.com/talosgen/talosgen/apply/kubeplan"
)

// What an object is waited for, and what is not waited for at all.
func TestReadiness(t *testing.T) {
	flux := func(spec, status map[string]any) kubeplan.Object {
		return kubeplan.Object{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
			"metadata": map[string]any{"name": "x", "namespace": "y", "generation": int64(1)}, "spec": spec, "status": status,
		}
	}
	ready := func(is string) map[string]any {
		return map[string]any{"observedGeneration": int64(1), "conditions": []any{map[string]any{"type": "Ready", "status": is, "message": "because"}}}
	}
	none, suspended := map[string]any{}, map[string]any{"suspend": true}
	for name, test := range map[string]struct {
		object kubeplan.Object
		want   string // empty: it is ready
	}{
		"nothing":                       {nil, "it is not there"},
		"Flux has not looked":           {flux(none, none), "Flux has not looked at it yet"},
		"Flux is ready":                 {flux(none, ready("True")), ""},
		"Flux is not":                   {flux(none, ready("Unknown")), "because"},
		"Flux is told not to look":      {flux(suspended, map[string]any{"observedGeneration": int64(-1)}), ""},
		"suspended while it was broken": {flux(suspended, ready("False")), ""},
		"no status":                     {kubeplan.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}}, ""},
	} {
		if is, text := Readiness(test.object); is != (test.want == "") || text != test.want {
			t.Errorf("%s: ready %t, %q; want %q", name, is, text, test.want)
		}
	}
}
