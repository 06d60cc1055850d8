package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

// TestWritten reads the files that are as the lock says, and no other.
func TestWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	files := []File{{"a.yaml", []byte("a\n")}, {"b/c.yaml", []byte("c\n")}, {"d.yaml", []byte("d\n")}, {"e.yaml", []byte("e\n")}}
	lock := lockOf(t, "1.0.0", files)
	if _, err := Write(dir, files, lock); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "foreign.yaml"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "d.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "e.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b/c.yaml", filepath.Join(dir, "e.yaml")); err != nil {
		t.Fatal(err)
	}
	w, err := OpenWritten(dir, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"a.yaml": "", "b/c.yaml": "c\n", "d.yaml": "", "e.yaml": "", "foreign.yaml": "", "no.yaml": ""} {
		if got, as := w.Read(file); as != (want != "") || as && string(got) != want || w.Has(file) != as {
			t.Errorf("%s is %q, as the lock says: %t, %t", file, got, as, w.Has(file))
		}
	}
	if w.Complete() {
		t.Error("all files are as the lock says")
	}
	if !w.ReadFrom(lock.Inputs) || w.ReadFrom(nil) {
		t.Error("the sources are not those of the lock")
	}
	if _, err := OpenWritten(filepath.Join(dir, "no"), "1.0.0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a tree that is not there: %v", err)
	}
}

// rewritten writes a tree, lets change do what it likes to it, and writes another one
// that keeps a file.
func rewritten(t *testing.T, sys *system, change func(dir string)) (dir string, summary Summary, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, content{"a.yaml": "a", "b/c.yaml": "c"})
	w, err := OpenWritten(dir, "1.0.0")
	if err != nil || !w.Complete() {
		t.Fatal(err, w)
	}
	change(dir)
	files := []File{{"a.yaml", []byte("new")}}
	all := append(Outputs(files), w.Keep([]string{"b/c.yaml"})...)
	lock, err := rendered.NewLock(w.Lock.Origin, w.Lock.Inputs, all)
	if err != nil {
		t.Fatal(err)
	}
	lock.Seal = lock.ComputeSeal([]byte("key"))
	summary, err = rewrite(sys, dir, w.with(files, []string{"b/c.yaml"}), lock)
	return dir, summary, err
}

// TestRewrite keeps a file as it is, also where there are no hard links.
func TestRewrite(t *testing.T) {
	noLinks := *realSystem
	noLinks.link = func(string, string) error { return unlinkable[0] }
	for name, sys := range map[string]*system{"links": realSystem, "copies": &noLinks} {
		dir, summary, err := rewritten(t, sys, func(string) {})
		if err != nil || !slices.Equal(summary.Changed, []string{"a.yaml"}) || !slices.Equal(summary.Unchanged, []string{"b/c.yaml"}) {
			t.Errorf("%s: %+v (%v)", name, summary, err)
		}
		w, err := OpenWritten(dir, "1.0.0")
		if err != nil || !w.Complete() {
			t.Fatalf("%s: the tree is not as its lock says (%v)", name, err)
		}
		if data, _ := w.Read("b/c.yaml"); string(data) != "c" {
			t.Errorf("%s: what stays is %q", name, data)
		}
	}
}

// TestRewriteOfAnotherTree writes nothing over a tree that came in between, or has gone.
func TestRewriteOfAnotherTree(t *testing.T) {
	for name, change := range map[string]func(dir string){
		"another": func(dir string) { mustWrite(t, dir, content{"a.yaml": "a", "b/c.yaml": "other"}) },
		"none":    func(dir string) { _ = os.RemoveAll(dir) },
	} {
		if _, _, err := rewritten(t, realSystem, change); diag.CodeOf(err) != diag.Conflict {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
