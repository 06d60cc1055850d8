package manifest

import (
	"reflect"
	"testing"
)

func TestValue(t *testing.T) {
	o := Object{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "spec": Object{"list": []any{int64(1)}}}
	for _, test := range []struct{ got, want any }{
		{o.Text("metadata", "name"), "a"},
		{o.Text("metadata"), ""},
		{o.Text("kind", "name"), ""},
		{o.Map("metadata"), map[string]any{"name": "a"}},
		{o.List("spec", "list"), []any{int64(1)}},
		{len(o.Map("spec")), 1},
		{o.Value("none", "name"), nil},
		{o.IsSecret(), true},
		{o.WithMetadata(nil).Name(), ""},
		{o.Name(), "a"},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("got %#v, want %#v", test.got, test.want)
		}
	}
}

func TestParseID(t *testing.T) {
	for text, want := range map[string]ID{
		"Secret/kube-system/hcloud":        {"", "Secret", "kube-system", "hcloud"},
		"Deployment.apps/ns/a.b":           {"apps", "Deployment", "ns", "a.b"},
		"ClusterRole.rbac.example.org/x:y": {"rbac.example.org", "ClusterRole", "", "x:y"},
	} {
		if id, ok := ParseID(text); !ok || id != want || id.String() != text {
			t.Errorf("%s: %+v %v, printed %s", text, id, ok, id)
		}
	}
	for _, text := range []string{"", "Secret", "a/b/c/d", "/x", "Secret/"} {
		if id, ok := ParseID(text); ok {
			t.Errorf("%q is %+v", text, id)
		}
	}
}
