package manifest

import "testing"

func TestID(t *testing.T) {
	for _, c := range []struct {
		object Object
		want   string
	}{
		{Object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "hcloud", "namespace": "kube-system"}}, "Secret/kube-system/hcloud"},
		{Object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": Object{"name": "a", "namespace": "b"}}, "Deployment.apps/b/a"},
		{Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "a"}}, "Namespace/a"},
		{Object{"kind": 1}, "/"},
	} {
		if got := c.object.ID().String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.object, got, c.want)
		}
	}
}
