package render_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

//go:generate go test -run ^TestShippedPictures$ -update .

// TestShippedPictures keeps the pictures in the documentation as the shipped
// environments are.
func TestShippedPictures(t *testing.T) {
	repo, err := render.Open("..", render.Process{Version: "0.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	envs, err := repo.Environments()
	if err != nil || len(envs) < 3 {
		t.Fatalf("environments: %v, %v", envs, err)
	}
	for _, env := range envs {
		p, err := repo.Graph(env)
		if err != nil {
			t.Fatal(err)
		}
		image := p.SVG()
		file := filepath.Join("..", "docs", "pictures", env+".svg")
		if *update {
			if err := os.WriteFile(file, image, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, image) {
			t.Errorf("%s is not current: run go generate ./render (%v)", file, err)
		}
		for _, fact := range pictured[env] {
			if !strings.Contains(string(image), ">"+fact+"<") {
				t.Errorf("%s does not show %q", file, fact)
			}
		}
	}
}

// pictured is what the pictures must show at least.
var pictured = map[string][]string{
	"dev":       {"cluster acme-dev · Kubernetes 1.36.3 · Talos v1.13.9 · 3 nodes at Hetzner Cloud", "acme-dev-worker-2", "10.0.80.3", "hcloud-csi", "git.example.com/clusters"},
	"prod":      {"acme-production-eu-central-kube-api", "acme-production-eu-central-nat-gateway", "2 × ccx23", "0 to 5 × cpx32", "production"},
	"talos-k8s": {"talos-k8s-worker-1-3", "0 to 5 × cpx22", "cilium", "ingress-nginx"},
	"home":      {"192.168.10.10", "nas", "192.168.10.20", "metrics-server"},
}

// An environment that is not rendered, or whose tree was edited, is not drawn.
func TestGraphRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(dir string) error
		want   string
		code   diag.Code
	}{
		"not rendered": {func(dir string) error { return os.RemoveAll(filepath.Join(dir, "rendered")) }, "is not rendered yet", diag.Usage},
		"unreadable": {func(dir string) error {
			lock := filepath.Join(dir, "rendered/dev/render.lock.yaml")
			return errors.Join(os.Remove(lock), os.Symlink("/outside", lock))
		}, "rendered/dev/render.lock.yaml: cannot be read", diag.Input},
		"edited": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "rendered/dev/infrastructure.yaml"), []byte("cluster: other\n"), 0o644)
		}, "is not what render wrote", diag.Secrets},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, "envs", "dev"), 0o755), os.CopyFS(filepath.Join(dir, "rendered"), os.DirFS("../rendered")), tt.change(dir)); err != nil {
				t.Fatal(err)
			}
			repo, err := render.Open(dir, render.Process{Version: "0.1.0"})
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			if _, err := repo.Graph("dev"); err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != tt.code {
				t.Errorf("code %d: %v", diag.CodeOf(err), err)
			}
		})
	}
}
