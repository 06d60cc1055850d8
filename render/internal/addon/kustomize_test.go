package addon

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/internal/manifest"
)

func files(texts map[string]string) fstest.MapFS {
	result := fstest.MapFS{}
	for name, text := range texts {
		result[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return result
}

// TestCustomize runs a kustomization of the user's over what an addon is.
func TestCustomize(t *testing.T) {
	engine := Engine{Repository: files(map[string]string{
		"envs/dev/addons/web/kustomization.yaml": "resources: [own.yaml]\npatches:\n- patch: |-\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {patched: \"1\"}}\n- patch: |-\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: gone}, $patch: delete}\n",
		"envs/dev/addons/web/own.yaml":           "{apiVersion: v1, kind: ConfigMap, metadata: {name: own}}",
		"bare/kustomization.yaml":                "commonAnnotations: {a: \"yes\"}\n",
	})}
	objects := func() []manifest.Object {
		return []manifest.Object{
			{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"on": "off", "n": "1"}},
			{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "gone"}},
			{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "stringData": map[string]any{"key": "yes"}},
		}
	}
	for _, tt := range []struct{ dir, want string }{
		{"envs/dev/addons/web", "ConfigMap/a Secret/s ConfigMap/own"},
		{"bare", "ConfigMap/a ConfigMap/gone Secret/s"},
	} {
		got, err := engine.Customize(tt.dir, objects())
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, o := range got {
			ids = append(ids, o.ID().String())
		}
		if strings.Join(ids, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.dir, ids, tt.want)
		}
		for _, part := range []string{`"on": "off"`, `"n": "1"`, `key: "yes"`} {
			if !strings.Contains(text(t, got), part) {
				t.Errorf("%s: no %s in\n%s", tt.dir, part, text(t, got))
			}
		}
	}
	if _, err := engine.Customize("nowhere", objects()); err == nil || !strings.Contains(err.Error(), "nowhere: the directory has no kustomization.yaml") {
		t.Error(err)
	}
}
