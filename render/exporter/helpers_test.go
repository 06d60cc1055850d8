package exporter

import (
	"context"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
)

var update = flag.Bool("update", false, "write what is exported into testdata")

// shipped are the examples of this repository, which are rendered.
const shipped = "../.."

// exampleKey is the private key of the examples.
func exampleKey(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(shipped, "envs", "example.agekey"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

// repository opens a repository with the key of the examples.
func repository(t testing.TB, root string) *render.Repo {
	t.Helper()
	key := exampleKey(t)
	r, err := render.Open(root, render.Process{
		Keys: sopsage.Env{
			Lookup:   func(name string) (string, bool) { return key, name == "SOPS_AGE_KEY" },
			ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		},
		Now:    func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) },
		Random: rand.NewChaCha8([32]byte{1}), Masker: secret.NewMasker(), Version: "0.1.0",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// must exports an environment, and fails the test with what stands in the way.
func must(t testing.TB, r *render.Repo, env string, o Options) *Export {
	t.Helper()
	e, err := Make(context.Background(), r, env, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// edited is a repository of its own with the sources of the examples and with other
// texts in the place of some, rendered.
func edited(t testing.TB, env string, texts map[string]string) *render.Repo {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"envs", "patches"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(shipped, dir))); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(shipped, ".sops.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, ".sops.yaml"), data)
	for name, text := range texts {
		write(t, filepath.Join(root, name), []byte(text))
	}
	r := repository(t, root)
	res, err := r.Render(context.Background(), env, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(res); err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
