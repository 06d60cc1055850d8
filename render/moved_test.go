package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render"
)

// A tree in which Flux runs the autoscaler, as earlier versions rendered it:
// whoever renders it again is told how its objects stay, once, and not for a
// tree that nobody has rendered yet.
func TestAddonThatFluxGivesBackIsTold(t *testing.T) {
	const told = "addon cluster-autoscaler: Flux runs it, and apply is to keep it from now on"
	r, key := gitopsRepo(t, "")
	repo := r.open(key)
	if res := mustRender(t, repo, "prod", render.Options{}); strings.Contains(res.Warnings.Error(), told) {
		t.Error("a first render warns of Flux")
	}
	mustWrite(t, repo, "prod")
	dir := filepath.Join(r.root, "rendered", "prod")
	if err := os.Rename(filepath.Join(dir, "bootstrap", "cluster-autoscaler"), filepath.Join(dir, "addons", "controllers", "cluster-autoscaler")); err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile(filepath.Join(dir, rendered.LockName))
	if err != nil {
		t.Fatal(err)
	}
	older := strings.ReplaceAll(string(lock), "bootstrap/cluster-autoscaler/", "addons/controllers/cluster-autoscaler/")
	if err := os.WriteFile(filepath.Join(dir, rendered.LockName), []byte(older), 0o644); err != nil {
		t.Fatal(err)
	}
	res := mustRender(t, r.open(key), "prod", render.Options{})
	text := res.Warnings.Error()
	if strings.Count(text, told) != 1 || !strings.Contains(text, "flux suspend kustomization talosgen-controllers -n flux-system") {
		t.Errorf("warned of %s", text)
	}
}
