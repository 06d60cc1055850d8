package render_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
)

// shipped is the repository that these tests are in: its environments are
// examples for users, and golden files for us.
const shipped = ".."

// shippedEnvs are the environments that this repository ships.
func shippedEnvs(t *testing.T) []string {
	t.Helper()
	envs, err := open(t, shipped, nil).Environments()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(envs, []string{"dev", "home", "prod", "talos-k8s"}) {
		t.Fatalf("the repository ships %v", envs)
	}
	return envs
}

// testTime is the clock of all tests: what a render writes must not depend on
// it.
var testTime = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// testVersion is the version of the talosgen that this source is, which stands
// in locks.
func testVersion(t testing.TB) string {
	t.Helper()
	_, rest, ok := strings.Cut(readFile(t, shipped, "cmd/talosgen/main.go"), "\nconst version = \"")
	version, _, ok2 := strings.Cut(rest, "\"\n")
	if !ok || !ok2 {
		t.Fatal("cmd/talosgen does not say its version")
	}
	return version
}

// world is the outside of a test: no keys but those in env, no home directory.
func world(t testing.TB, env map[string]string) render.Process {
	t.Helper()
	return render.Process{
		Keys: sopsage.Env{
			GOOS:     runtime.GOOS,
			Lookup:   func(name string) (string, bool) { v, ok := env[name]; return v, ok },
			ReadFile: os.ReadFile,
		},
		Now:     func() time.Time { return testTime },
		Random:  rand.Reader,
		Version: testVersion(t),
	}
}

// open opens a repository with the keys that the variables in env give.
func open(t testing.TB, root string, env map[string]string) *render.Repo {
	t.Helper()
	return openWorld(t, root, world(t, env))
}

func openWorld(t testing.TB, root string, w render.Process) *render.Repo {
	t.Helper()
	r, err := render.Open(root, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// mustRender renders an environment, and fails the test with all problems.
func mustRender(t testing.TB, r *render.Repo, env string, o render.Options) *render.Result {
	t.Helper()
	res, err := r.Render(context.Background(), env, o)
	if err != nil {
		t.Fatalf("rendering %s: %v", env, err)
	}
	return res
}

// mustWrite renders an environment and writes its tree.
func mustWrite(t testing.TB, r *render.Repo, env string) render.Summary {
	t.Helper()
	summary, err := r.Write(mustRender(t, r, env, render.Options{}))
	if err != nil {
		t.Fatalf("writing %s: %v", env, err)
	}
	return summary
}

// copySources copies the sources of a repository to a new directory, without
// what was rendered from them.
func copySources(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "repository")
	for _, name := range []string{"envs", "patches"} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	writeFile(t, to, ".sops.yaml", readFile(t, from, ".sops.yaml"))
	return to
}

func readFile(t testing.TB, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFile(t testing.TB, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readTree reads every file below a directory, by its path with slashes.
func readTree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = readFile(t, dir, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compareTrees reports the files in which two trees differ.
func compareTrees(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	for name, text := range got {
		switch other, ok := want[name]; {
		case !ok:
			t.Errorf("%s was not there before", name)
		case other != text:
			t.Errorf("%s differs: %s", name, firstDifference(text, other))
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "line " + g[i] + "\ninstead of " + w[i]
		}
	}
	return "one is longer than the other"
}

// problemsOf takes an error apart.
func problemsOf(err error) diag.List {
	var list diag.List
	list.AddErr(err)
	return list
}
