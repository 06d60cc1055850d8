package render_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// withoutKeys copies the shipped sources and removes the example key.
func withoutKeys(t *testing.T) string {
	t.Helper()
	root := copySources(t, shipped)
	if err := os.Remove(filepath.Join(root, "envs/example.agekey")); err != nil {
		t.Fatal(err)
	}
	return root
}

// Without any key, every shipped environment renders with placeholders.
func TestKeylessRendersTheShippedEnvironments(t *testing.T) {
	root := withoutKeys(t)
	for _, env := range shippedEnvs(t) {
		t.Run(env, func(t *testing.T) {
			r := open(t, root, nil)
			res := mustRender(t, r, env, render.Options{Keyless: true})
			want := mustRender(t, open(t, shipped, nil), env, render.Options{})
			if len(res.Nodes) != len(want.Nodes) || len(res.Nodes) == 0 {
				t.Errorf("%d nodes, with keys %d", len(res.Nodes), len(want.Nodes))
			}
			if _, err := r.Write(res); err == nil {
				t.Error("placeholders could be written")
			}
		})
	}
}

// Check needs no key, and finds what was changed.
func TestCheckNeedsNoKey(t *testing.T) {
	root := withoutKeys(t)
	if err := os.CopyFS(filepath.Join(root, "rendered"), os.DirFS(filepath.Join(shipped, "rendered"))); err != nil {
		t.Fatal(err)
	}
	r := open(t, root, nil)
	for _, env := range shippedEnvs(t) {
		if differences, err := r.Check(env); err != nil || len(differences) > 0 {
			t.Errorf("%s: %v, %v", env, differences, err)
		}
	}
	writeFile(t, root, "envs/dev/cluster.env", readFile(t, root, "envs/dev/cluster.env")+"# more\n")
	differences, err := r.Check("dev")
	if err != nil || len(differences) != 1 || differences[0].Path != "envs/dev/cluster.env" {
		t.Errorf("%v, %v", differences, err)
	}
	if differences, err := r.Check("prod"); err != nil || len(differences) > 0 {
		t.Errorf("prod: %v, %v", differences, err)
	}
}

// A render that needs keys and finds none says where it looked.
func TestRenderWithoutKeys(t *testing.T) {
	root := copySources(t, shipped)
	if err := os.Remove(filepath.Join(root, "envs/example.agekey")); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, root, nil).Render(context.Background(), "dev", render.Options{})
	var p *diag.Problem
	if !errors.As(err, &p) || diag.CodeOf(err) != diag.Secrets {
		t.Errorf("got %v", err)
	}
}
