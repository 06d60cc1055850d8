package kubesim_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The operations of a JSON patch are made all, or none: with them fields change
// hands, if nobody has changed the object meanwhile.
func TestJSONPatch(t *testing.T) {
	_, config := start(t)
	set, _ := clients(t, config)
	maps := set.CoreV1().ConfigMaps("default")
	apply := []byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "one"}}`)
	made, err := maps.Patch(t.Context(), "a", types.ApplyPatchType, apply, metav1.PatchOptions{FieldManager: "helm"})
	if err != nil {
		t.Fatal(err)
	}
	patch := func(version string) []byte {
		return []byte(`[{"op": "test", "path": "/metadata/resourceVersion", "value": "` + version + `"},
			{"op": "replace", "path": "/metadata/managedFields/0/manager", "value": "talosgen"}]`)
	}
	if _, err := maps.Patch(t.Context(), "a", types.JSONPatchType, patch("0"), metav1.PatchOptions{}); err == nil || apierrors.IsInternalError(err) {
		t.Errorf("another version: %v", err)
	}
	got, err := maps.Patch(t.Context(), "a", types.JSONPatchType, patch(made.ResourceVersion), metav1.PatchOptions{})
	if err != nil || len(got.ManagedFields) != 1 || got.ManagedFields[0].Manager != "talosgen" || got.Data["x"] != "one" {
		t.Errorf("got %v (%v)", got, err)
	}
	if _, err := maps.Patch(t.Context(), "a", types.JSONPatchType, []byte(`{}`), metav1.PatchOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("no list: %v", err)
	}
}
