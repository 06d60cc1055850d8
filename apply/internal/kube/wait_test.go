package kube

import (
	"slices"
	"testing"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
)

// What waits for another object that is waited for is not said, unless nothing
// else is known.
func TestCauses(t *testing.T) {
	flux := func(kind, name, text string) waited {
		return waited{id: kubeplan.ID{Group: kind + ".toolkit.fluxcd.io", Kind: kind, Namespace: "flux-system", Name: name}, text: text}
	}
	source := flux("GitRepository", "flux-system", "authentication required")
	broken := flux("Kustomization", "controllers", `Foo/bar dry-run failed: no matches for kind "Foo"`)
	after := flux("Kustomization", "apps", "dependency 'flux-system/controllers' is not ready")
	without := flux("Kustomization", "crds", "Source artifact not found, retrying")
	other := waited{id: kubeplan.ID{Group: "apps", Kind: "Deployment", Namespace: "x", Name: "y"}, text: "dependency 'z' is not ready"}
	for name, tt := range map[string]struct{ waiting, want []waited }{
		"a dependency":      {[]waited{after, broken}, []waited{broken}},
		"the source":        {[]waited{without, after, source}, []waited{source}},
		"nothing but those": {[]waited{without, after}, []waited{without, after}},
		"not of Flux":       {[]waited{after, other}, []waited{other}},
	} {
		if got := causes(tt.waiting); !slices.EqualFunc(got, tt.want, func(a, b waited) bool { return a.id == b.id }) {
			t.Errorf("%s: %v, not %v", name, got, tt.want)
		}
	}
	if got := nameOf(broken.id) + " " + nameOf(other.id); got != "Kustomization/flux-system/controllers Deployment.apps/x/y" {
		t.Error(got)
	}
}

// A FluxInstance with which the operator has stopped is not waited for: as it is now, and
// no other object.
func TestStalled(t *testing.T) {
	object := func(kind, group, status string, observed int64) waited {
		o := kubeplan.Object{
			"apiVersion": group + "/v1", "kind": kind, "metadata": map[string]any{"name": "flux", "generation": int64(2)},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Stalled", "status": status, "observedGeneration": observed}}},
		}
		return waited{id: o.ID(), live: o}
	}
	const operator, flux = "fluxcd.controlplane.io", "source.toolkit.fluxcd.io"
	for name, test := range map[string]struct {
		waiting waited
		want    int
	}{
		"stalled":                {object("FluxInstance", operator, "True", 2), 1},
		"was, before it changed": {object("FluxInstance", operator, "True", 1), 0},
		"not stalled":            {object("FluxInstance", operator, "False", 2), 0},
		"another kind":           {object("GitRepository", flux, "True", 2), 0},
		"not there":              {waited{id: object("FluxInstance", operator, "", 0).id}, 0},
	} {
		if got := len(stalled([]waited{test.waiting})); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

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
	instance := func(of ...any) kubeplan.Object {
		o := kubeplan.Object{"apiVersion": "fluxcd.controlplane.io/v1", "kind": "FluxInstance", "metadata": map[string]any{"name": "flux", "generation": int64(2)}}
		if len(of) > 0 {
			o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": of[0], "observedGeneration": of[1], "message": "because"}}}
		}
		return o
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
		"whom Flux tells has no status": {kubeplan.Object{"apiVersion": "notification.toolkit.fluxcd.io/v1beta3", "kind": "Alert", "metadata": map[string]any{"name": "x"}}, ""},
		"who tells Flux has one":        {kubeplan.Object{"apiVersion": "notification.toolkit.fluxcd.io/v1", "kind": "Receiver", "metadata": map[string]any{"name": "x"}}, "Flux has not looked at it yet"},
		"not installed yet":             {instance(), "the Flux Operator has not looked at it yet"},
		"an older instance":             {instance("True", int64(1)), "the Flux Operator has not looked at it yet"},
		"cannot be installed":           {instance("False", int64(2)), "because"},
		"installed":                     {instance("True", int64(2)), ""},
		"no status":                     {kubeplan.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}}, ""},
	} {
		if is, text := Readiness(test.object); is != (test.want == "") || text != test.want {
			t.Errorf("%s: ready %t, %q; want %q", name, is, text, test.want)
		}
	}
}
