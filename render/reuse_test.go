package render_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render"
)

// mark is a comment that no render writes: a file that has it was taken over.
const mark = "# not rendered\n"

// markedTree renders dev, and marks all of its files; with a lock that fits them if
// sealed is set.
func markedTree(t *testing.T, sealed bool) (r *render.Repo, root string) {
	t.Helper()
	root = copySources(t, shipped)
	r = open(t, root, nil)
	mustWrite(t, r, "dev")
	for name, text := range readTree(t, filepath.Join(root, "rendered/dev")) {
		if name != rendered.LockName {
			writeFile(t, root, "rendered/dev/"+name, text+mark)
		}
	}
	if sealed {
		if err := r.Reseal("dev"); err != nil {
			t.Fatal(err)
		}
	}
	return r, root
}

// takenOver renders dev, and lists the parts that were taken over as they were.
func takenOver(t *testing.T, r *render.Repo, o render.Options) string {
	t.Helper()
	parts := map[string]bool{}
	res := mustRender(t, r, "dev", o)
	for _, file := range res.Files() {
		part, _, _ := strings.Cut(file, "/")
		if part == "nodes" {
			part = file
		}
		marked := strings.HasSuffix(res.Text(file), mark)
		if was, known := parts[part]; known && was != marked {
			t.Errorf("of %s, some files were taken over, others not", part)
		}
		parts[part] = marked
	}
	var names []string
	for _, part := range []string{"nodes/acme-dev-control-plane-1.yaml", "nodes/acme-dev-worker-1.yaml", "nodes/acme-dev-worker-2.yaml", "bootstrap", "addons", "flux"} {
		if _, known := parts[part]; !known {
			t.Errorf("there is no %s", part)
		}
		if parts[part] {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(part, "nodes/acme-dev-"), ".yaml"))
		}
	}
	return strings.Join(names, " ")
}

// TestReuse takes over from a genuine tree what no changed source has a part in, and
// makes the rest.
func TestReuse(t *testing.T) {
	const label = "machine:\n  sysctls:\n    a.b: \"1\"\n"
	for name, tt := range map[string]struct{ file, text, want string }{
		"a node":      {"envs/dev/patches/nodes/acme-dev-worker-1.yaml", label, "control-plane-1 worker-2 bootstrap addons flux"},
		"workers":     {"envs/dev/patches/worker/more.yaml", label, "control-plane-1 bootstrap addons flux"},
		"all nodes":   {"patches/common/more.yaml", label, "bootstrap addons flux"},
		"an addon":    {"envs/dev/addons/metrics-server/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more\n  namespace: kube-system\n", "control-plane-1 worker-1 worker-2"},
		"cluster.env": {"envs/dev/cluster.env", "MORE=1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, root := markedTree(t, true)
			text := tt.text
			if tt.file == "envs/dev/cluster.env" {
				text = readFile(t, root, tt.file) + text
			}
			writeFile(t, root, tt.file, text)
			if got := takenOver(t, r, render.Options{Reuse: true}); got != tt.want {
				t.Errorf("taken over is %q, want %q", got, tt.want)
			}
			if got := takenOver(t, r, render.Options{}); got != "" {
				t.Errorf("without being told to, %q", got)
			}
		})
	}
}

// TestReuseNeedsASeal takes nothing over from a tree that no render sealed: neither files that were changed by hand, nor files
// with a lock that was changed to fit them.
func TestReuseNeedsASeal(t *testing.T) {
	unsealed := func(t *testing.T, r *render.Repo, root string, edit func(lock string) string) {
		lock := "rendered/dev/" + rendered.LockName
		seal := readFile(t, root, lock)
		if err := r.Reseal("dev"); err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(readFile(t, root, lock), "seal: ")
		_, seal, _ = strings.Cut(seal, "seal: ")
		writeFile(t, root, lock, edit(text)+"seal: "+seal)
	}
	same := func(lock string) string { return lock }
	for name, damage := range map[string]func(*testing.T, *render.Repo, string){
		"files alone": func(*testing.T, *render.Repo, string) {},
		"the lock too": func(t *testing.T, r *render.Repo, root string) {
			unsealed(t, r, root, same)
		},
		"a lock of the last format": func(t *testing.T, r *render.Repo, root string) {
			unsealed(t, r, root, func(lock string) string { return strings.Replace(lock, "version: 3", "version: 2", 1) })
		},
		"no lock": func(t *testing.T, r *render.Repo, root string) {
			writeFile(t, root, "rendered/dev/"+rendered.LockName, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, root := markedTree(t, false)
			damage(t, r, root)
			writeFile(t, root, "envs/dev/patches/nodes/acme-dev-worker-1.yaml", "machine:\n  sysctls:\n    a.b: \"1\"\n")
			res := mustRender(t, r.WithNewKeys(), "dev", render.Options{Reuse: true})
			for _, file := range res.Files() {
				if strings.HasSuffix(res.Text(file), mark) {
					t.Errorf("%s was taken over", file)
				}
			}
		})
	}
}

// TestReuseOfAnotherVersion takes nothing over from the tree of another talosgen, which
// may render otherwise.
func TestReuseOfAnotherVersion(t *testing.T) {
	r, root := markedTree(t, true)
	if got := takenOver(t, r, render.Options{Reuse: true}); got == "" {
		t.Fatal("nothing is taken over from the tree of the same")
	}
	newer := world(t, nil)
	newer.Version += "1"
	if got := takenOver(t, openWorld(t, root, newer), render.Options{Reuse: true}); got != "" {
		t.Errorf("taken over is %q", got)
	}
}
