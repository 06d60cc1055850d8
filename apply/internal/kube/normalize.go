package kube

import (
	"slices"

	"github.com/fluxcd/pkg/ssa/normalize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Normalize brings an object into the form in which Flux applies it: texts of a
// Secret as data, protocols of ports filled in, no status. What talosgen applies
// first must be the same, or Flux would not own what it then finds. A field that
// the form has no place for is an error: nobody would notice that it is lost.
func Normalize(o manifest.Object) (manifest.Object, error) {
	u := (&unstructured.Unstructured{Object: o}).DeepCopy()
	if err := normalize.UnstructuredList([]*unstructured.Unstructured{u}); err != nil {
		return nil, diag.On(o.ID().String(), "is not what Kubernetes expects: %v", err).
			WithHint("`talosgen check` says which field it is").WithCause(err)
	}
	var problems diag.List
	for _, field := range lostFields("", map[string]any(o), u.Object) {
		problems.Add(diag.On(o.ID().String(), "%s is no field of a %s", field, o.Kind()).
			WithHint("`talosgen check` checks all fields of all objects"))
	}
	return u.Object, problems.Err()
}

// turned are fields that the normal form has elsewhere, or not at all.
var turned = []string{"status", "stringData", "metadata.creationTimestamp"}

// lostFields are the paths of fields in one object that the other has not.
// Empty ones say nothing, so they may go.
func lostFields(path string, from, to any) (lost []string) {
	switch f := from.(type) {
	case map[string]any:
		t, isMap := to.(map[string]any)
		for key, value := range f {
			at := key
			if path != "" {
				at = path + "." + key
			}
			switch below, found := t[key]; {
			case slices.Contains(turned, at):
			case found && isMap:
				lost = append(lost, lostFields(at, value, below)...)
			case !empty(value):
				lost = append(lost, at)
			}
		}
	case []any:
		t, _ := to.([]any)
		for i := range min(len(f), len(t)) {
			lost = append(lost, lostFields(path+"[]", f[i], t[i])...)
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost)
}

// empty reports whether a value says nothing: Go's zero values are left out.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
