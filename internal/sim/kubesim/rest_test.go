package kubesim

import (
	"math"
	"reflect"
	"testing"
	"time"
)

// TestRest: controllers that had nothing to do see what changes after it at the same
// moment: objects that come and go, nodes, and Git.
func TestRest(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	api := New("v1.36.4", func() time.Time { return now })
	revision := "main@sha1:1"
	flux := &Flux{Installed: true, Revision: func(string) string { return revision }, Read: func(string) ([]map[string]any, error) { return nil, nil }}
	cluster := Cluster{Flux: flux}
	settle := func() {
		for range 3 { // until there is nothing to do
			api.Settle(cluster)
		}
	}
	workload := func(name string) map[string]any {
		return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name, "namespace": "default", "generation": int64(1)}, "spec": map[string]any{}}
	}
	ready := func(name string, want any) {
		t.Helper()
		settle()
		status, _ := api.Get("Deployment", "default", name)["status"].(map[string]any)
		if status == nil || status["readyReplicas"] != want {
			t.Errorf("%s has the status %v, want %v ready", name, status, want)
		}
	}
	api.Put(workload("first"))
	ready("first", nil) // there is no node
	api.Put(workload("second"))
	ready("second", nil)
	cluster.Ready = 1
	ready("first", int64(1))
	api.Put(map[string]any{"apiVersion": sources + "/v1", "kind": "GitRepository", "metadata": map[string]any{"name": "git", "namespace": fluxNamespace}, "spec": map[string]any{}})
	for _, revision = range []string{"main@sha1:1", "main@sha1:2"} {
		settle()
		status, _ := api.Get("GitRepository", fluxNamespace, "git")["status"].(map[string]any)
		if artifact, _ := status["artifact"].(map[string]any); artifact["revision"] != revision {
			t.Errorf("the source has %v, want %s", artifact, revision)
		}
	}
	api.Remove("Deployment", "default", "first")
	api.Put(workload("first"))
	cluster.Pods = time.Minute
	ready("first", nil) // its pods start
	now = now.Add(time.Minute)
	ready("first", int64(1))
}

// TestSame: values are equal as [reflect.DeepEqual] says, of whatever type they are.
func TestSame(t *testing.T) {
	values := []any{
		nil, "", "a", true, int64(1), 1.0, math.Inf(1), 1, object{}, object{"a": nil}, object{"b": nil}, object{"a": []any{int64(1)}}, object{"a": []any{int64(2)}},
		[]any{}, []any{nil}, []any{"a", object{"b": "c"}}, []any{"a", object{"b": "d"}}, []string{"a"}, map[string]string{"a": "b"}, map[string]string{"a": "c"},
	}
	for i, a := range values {
		for j, b := range values {
			if got, want := same(a, b), reflect.DeepEqual(a, b); got != want {
				t.Errorf("%d and %d: %#v and %#v are the same: %v, want %v", i, j, a, b, got, want)
			}
		}
	}
}
