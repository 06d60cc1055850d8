package render_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// takenOver renders dev, and lists the parts that were taken over.
func takenOver(t *testing.T, r *render.Repo) string {
	t.Helper()
	res, err := r.Renew(t.Context(), "dev")
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]bool{}
	for _, file := range res.Kept() {
		part, _, _ := strings.Cut(file, "/")
		if part == "nodes" {
			part = strings.TrimSuffix(strings.TrimPrefix(file, "nodes/acme-dev-"), ".yaml")
		}
		parts[part] = true
	}
	for _, file := range res.Files() {
		if part, _, _ := strings.Cut(file, "/"); parts[part] || strings.HasSuffix(res.Text(file), mark) {
			t.Errorf("%s was made anew, and taken over", file)
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(parts)), " ")
}

// TestReuse takes over from a genuine tree what no changed source has a part in, and
// makes the rest.
func TestReuse(t *testing.T) {
	const label = "machine:\n  sysctls:\n    a.b: \"1\"\n"
	for name, tt := range map[string]struct{ file, text, want string }{
		"a node":      {"envs/dev/patches/nodes/acme-dev-worker-1.yaml", label, "addons bootstrap control-plane-1 flux infrastructure.yaml worker-2"},
		"workers":     {"envs/dev/patches/worker/more.yaml", label, "addons bootstrap control-plane-1 flux infrastructure.yaml"},
		"all nodes":   {"patches/common/more.yaml", label, "addons bootstrap flux infrastructure.yaml"},
		"an addon":    {"envs/dev/addons/metrics-server/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more\n  namespace: kube-system\n", "control-plane-1 infrastructure.yaml worker-1 worker-2"},
		"cluster.env": {"envs/dev/cluster.env", "MORE=1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, root := markedTree(t, true)
			text := tt.text
			if tt.file == "envs/dev/cluster.env" {
				text = readFile(t, root, tt.file) + text
			}
			writeFile(t, root, tt.file, text)
			if got := takenOver(t, r); got != tt.want {
				t.Errorf("taken over is %q, want %q", got, tt.want)
			}
			if kept := mustRender(t, r, "dev", render.Options{}).Kept(); len(kept) > 0 {
				t.Errorf("without being told to, %q", kept)
			}
			mustWriteKept(t, r, root)
		})
	}
}

// mustWriteKept renders what changed, writes it, and makes sure that what was taken
// over is in the tree as it was, and the rest is not.
func mustWriteKept(t *testing.T, r *render.Repo, root string) {
	t.Helper()
	res, err := r.Renew(t.Context(), "dev")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(res); err != nil {
		t.Fatal(err)
	}
	for name, text := range readTree(t, filepath.Join(root, "rendered/dev")) {
		if marked := strings.HasSuffix(text, mark); name != rendered.LockName && marked != slices.Contains(res.Kept(), name) {
			t.Errorf("%s is as it was: %t", name, marked)
		}
	}
	if fresh, err := r.Fresh(t.Context(), "dev"); !fresh || err != nil {
		t.Errorf("after that, up to date is %t (%v)", fresh, err)
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
			if err := os.Remove(filepath.Join(root, "rendered/dev", rendered.LockName)); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, root := markedTree(t, false)
			damage(t, r, root)
			writeFile(t, root, "envs/dev/patches/nodes/acme-dev-worker-1.yaml", "machine:\n  sysctls:\n    a.b: \"1\"\n")
			if got := takenOver(t, r.WithNewKeys()); got != "" {
				t.Errorf("taken over is %q", got)
			}
		})
	}
}

// TestReuseOfAnotherVersion takes nothing over from the tree of another talosgen, which
// may render otherwise.
func TestReuseOfAnotherVersion(t *testing.T) {
	r, root := markedTree(t, true)
	writeFile(t, root, "envs/dev/patches/worker/more.yaml", "machine:\n  sysctls:\n    a.b: \"1\"\n")
	if got := takenOver(t, r); got == "" {
		t.Fatal("nothing is taken over from the tree of the same")
	}
	newer := world(t, nil)
	newer.Version += "1"
	if got := takenOver(t, openWorld(t, root, newer)); got != "" {
		t.Errorf("taken over is %q", got)
	}
}
