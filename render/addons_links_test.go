package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
)

// A link that leads nowhere is the problem of the addon that it is a part of:
// others are rendered and checked, and what no addon uses is only warned of.
func TestBrokenLinkIsOfOneAddon(t *testing.T) {
	r, key := addonRepo(t)
	link := func(name string) string {
		name = filepath.Join(r.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("nowhere", name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, unused := range []string{"charts/other/templates/a.yaml", "envs/prod/addons/absent/values.yaml"} {
		link(unused)
		res, err := r.open(key).Render(t.Context(), "prod", render.Options{})
		if err != nil {
			t.Fatalf("%s: %v", unused, err)
		}
		if text := res.Warnings.Error(); strings.Count(text, unused+": the link cannot be followed: ") != 1 {
			t.Errorf("warned of %s", text)
		}
	}
	r.file("envs/prod/addons/hcloud-ccm/wrong.yaml", "kind: ConfigMap\n")
	for _, used := range []string{"charts/web/templates/b.yaml", "patches/addons/web/more.yaml", "envs/prod/addons/web/c.yaml"} {
		name := link(used)
		_, err := r.open(key).Render(t.Context(), "prod", render.Options{})
		if err == nil || !strings.Contains(err.Error(), used+": the link cannot be followed: ") {
			t.Errorf("%s: %v", used, err)
		}
		if err == nil || !strings.Contains(err.Error(), "envs/prod/addons/hcloud-ccm/wrong.yaml") {
			t.Errorf("%s hides what is wrong with another addon: %v", used, err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
