package kubesim_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

type object = map[string]any

func now() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func start(t *testing.T) (*kubesim.API, *rest.Config) {
	t.Helper()
	api := kubesim.New("v1.36.4", now)
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return api, &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

func clients(t *testing.T, c *rest.Config) (kubernetes.Interface, dynamic.Interface) {
	t.Helper()
	set, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	any, err := dynamic.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return set, any
}

func pod(name, node string) object {
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"namespace": "default", "name": name, "labels": object{"app": "web"}}, "spec": object{"nodeName": node}}
}

// TestDiscovery: clients find the kinds, also those of a CustomResourceDefinition.
func TestDiscovery(t *testing.T) {
	api, config := start(t)
	set, _ := clients(t, config)
	api.Put(object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "things.example.com"},
		"spec": object{"group": "example.com", "scope": "Cluster", "names": object{"kind": "Thing", "plural": "things"}, "versions": []any{object{"name": "v1"}}}})
	groups, lists, err := set.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, g := range groups {
		names[g.Name] = true
	}
	kinds := map[string]bool{}
	for _, l := range lists {
		for _, r := range l.APIResources {
			kinds[l.GroupVersion+" "+r.Kind+" "+fmt.Sprint(r.Namespaced)] = true
		}
	}
	for _, want := range []string{"v1 Node false", "v1 Pod true", "apps/v1 DaemonSet true", "example.com/v1 Thing false"} {
		if !kinds[want] {
			t.Errorf("%s is not served", want)
		}
	}
	if !names["example.com"] || !names[""] {
		t.Errorf("groups %v", names)
	}
	if v, err := set.Discovery().ServerVersion(); err != nil || v.GitVersion != "v1.36.4" || v.Minor != "36" {
		t.Errorf("version %v, %v", v, err)
	}
	if text, err := set.CoreV1().RESTClient().Get().AbsPath("/readyz").DoRaw(t.Context()); err != nil || string(text) != "ok" {
		t.Errorf("readyz: %q, %v", text, err)
	}
}

// TestObjects: what is made can be read, changed and deleted, by those who know
// its version.
func TestObjects(t *testing.T) {
	_, config := start(t)
	set, _ := clients(t, config)
	ctx := t.Context()
	maps := set.CoreV1().ConfigMaps("default")
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"x": "1"}}, Data: map[string]string{"k": "v"}}, metav1.CreateOptions{})
	if err != nil || made.UID == "" || made.ResourceVersion == "" || !made.CreationTimestamp.Time.Equal(now()) {
		t.Fatalf("made %+v, %v", made, err)
	}
	if _, err := maps.Create(ctx, made, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("made twice: %v", err)
	}
	if _, err := set.CoreV1().ConfigMaps("nowhere").Create(ctx, made, metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("made in no namespace: %v", err)
	}
	changed := made.DeepCopy()
	changed.Data["k"] = "w"
	if _, err := maps.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := maps.Update(ctx, changed, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an old version: %v", err)
	}
	if _, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"k":null,"l":"1"}}`), metav1.PatchOptions{DryRun: []string{"All"}}); err != nil {
		t.Error(err)
	}
	if got, err := maps.Get(ctx, "a", metav1.GetOptions{}); err != nil || got.Data["k"] != "w" || len(got.Data) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	for selector, want := range map[string]int{"x=1": 1, "x=2": 0, "": 1} {
		if list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: selector}); err != nil || len(list.Items) != want {
			t.Errorf("%q: %d, %v", selector, len(list.Items), err)
		}
	}
	wrong := types.UID("another")
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}}); !apierrors.IsConflict(err) {
		t.Errorf("deleted another one: %v", err)
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("deleted, and there: %v", err)
	}
}

// TestFinalizers: what has one waits for it.
func TestFinalizers(t *testing.T) {
	api, config := start(t)
	set, _ := clients(t, config)
	api.Put(object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"namespace": "default", "name": "a", "finalizers": []any{"example.com/x"}}})
	maps := set.CoreV1().ConfigMaps("default")
	if err := maps.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := maps.Get(t.Context(), "a", metav1.GetOptions{}); err != nil || got.DeletionTimestamp == nil {
		t.Fatalf("got %v, %v", got, err)
	}
	if _, err := maps.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if api.Get("ConfigMap", "default", "a") != nil {
		t.Error("it is still there")
	}
}

// TestServerSideApply: fields have owners, whom nobody takes them from unless by
// force, and what an owner leaves out is gone.
func TestServerSideApply(t *testing.T) {
	api, config := start(t)
	_, any := clients(t, config)
	maps := any.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	apply := func(manager, data string, force bool) error {
		text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":` + data + `}`
		_, err := maps.Patch(t.Context(), "a", types.ApplyPatchType, []byte(text), metav1.PatchOptions{FieldManager: manager, Force: &force})
		return err
	}
	data := func() string { return fmt.Sprint(api.Get("ConfigMap", "default", "a")["data"]) }
	for _, step := range []struct {
		manager, data string
		force         bool
		refused       string
		want          string
	}{
		{"one", `{"a":"1","b":"1"}`, false, "", "map[a:1 b:1]"},
		{"two", `{"c":"2"}`, false, "", "map[a:1 b:1 c:2]"},
		{"two", `{"a":"2","c":"2"}`, false, `conflict with "one": .data.a`, "map[a:1 b:1 c:2]"},
		{"two", `{"a":"2","c":"2"}`, true, "", "map[a:2 b:1 c:2]"},
		{"one", `{"b":"1"}`, false, "", "map[a:2 b:1 c:2]"},
		{"two", `{"c":"2"}`, false, "", "map[b:1 c:2]"},
	} {
		err := apply(step.manager, step.data, step.force)
		if step.refused == "" && err != nil || step.refused != "" && (!apierrors.IsConflict(err) || !strings.Contains(err.Error(), step.refused)) {
			t.Errorf("%s applies %s: %v", step.manager, step.data, err)
		}
		if got := data(); got != step.want {
			t.Errorf("%s applies %s: %s, want %s", step.manager, step.data, got, step.want)
		}
	}
}

// TestEviction: a budget allows as many as it says.
func TestEviction(t *testing.T) {
	api, config := start(t)
	set, _ := clients(t, config)
	for _, name := range []string{"a", "b", "c"} {
		api.Put(pod(name, "node-1"))
	}
	api.Put(object{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": object{"namespace": "default", "name": "web"},
		"spec": object{"selector": object{"matchLabels": object{"app": "web"}}}, "status": object{"disruptionsAllowed": int64(1)}})
	var got []string
	for _, name := range []string{"a", "b", "x"} {
		err := set.PolicyV1().Evictions("default").Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		got = append(got, string(apierrors.ReasonForError(err)))
	}
	if want := "[ TooManyRequests NotFound]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	list, err := set.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=node-1"})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%d pods, %v", len(list.Items), err)
	}
}

// TestRestore: a copy does not change with what it was made of.
func TestRestore(t *testing.T) {
	api, _ := start(t)
	api.Put(pod("a", ""))
	copied := api.Restore()
	api.Remove("Pod", "default", "a")
	if copied.Get("Pod", "default", "a") == nil || api.Get("Pod", "default", "a") != nil {
		t.Error("the copy is not one")
	}
}
