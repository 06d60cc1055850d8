package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

func TestWriteRefuses(t *testing.T) {
	symlink := func(target, path string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, path)), os.Symlink(target, filepath.Join(dir, path))); err != nil {
				t.Fatal(err)
			}
		}
	}
	put := func(path string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { putFile(t, dir, path, "mine") }
	}
	for name, tt := range map[string]struct {
		before  func(t *testing.T, dir string)
		tree    content
		version string
		want    string
	}{
		"foreign file":             {before: put("new.yaml"), tree: small.with("new.yaml", "n"), want: "dev/new.yaml: exists and was not written by talosgen"},
		"foreign file below":       {before: put("new/x"), tree: small.with("new", "n"), want: "dev/new/x: exists and was not written by talosgen"},
		"foreign file above":       {before: put("new"), tree: small.with("new/x", "n"), want: "dev/new: exists and was not written by talosgen"},
		"foreign link":             {before: symlink("/etc/passwd", "new"), tree: small.with("new", "n"), want: "dev/new: exists and was not written by talosgen"},
		"directory is a link":      {before: symlink("../..", "new"), tree: small.with("new/x", "n"), want: "dev/new: is a symbolic link"},
		"old directory is a link":  {before: symlink("addons", "nodes"), tree: small, want: "dev/nodes: is a symbolic link"},
		"deep directory is a link": {before: symlink("../..", "addons/x"), tree: small, want: "dev/addons/x: is a symbolic link"},
		"empty foreign directory": {before: func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, "new"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, tree: small.with("new", "n"), want: "dev/new: exists and was not written by talosgen"},
		"two foreign files": {before: func(t *testing.T, dir string) { put("p")(t, dir); put("q")(t, dir) },
			tree: small.with("p", "").with("q", ""), want: "2 problems"},
		"lock is gone": {before: func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, rendered.LockName)); err != nil {
				t.Fatal(err)
			}
		}, tree: content{"infra.yaml": "I", "nodes/a.yaml": "A", "nodes/b.yaml": "B", "addons/x/deep/k.yaml": "K"},
			want: "is missing, and 4 files (addons/x/deep/k.yaml, …) exist that a render would overwrite"},
		"older talosgen": {tree: small.with("new", "n"), version: "0.9.0", want: "written by talosgen 1.0.0, this is 0.9.0"},
		"bad path":       {tree: small.with("../new", "n"), want: "path ../new: is not a relative path"},
		"same path":      {tree: small.with("nodes/A.yaml", "n"), want: "in case only"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "rendered", "dev")
			mustWrite(t, dir, small)
			if tt.before != nil {
				tt.before(t, dir)
			}
			root := filepath.Dir(filepath.Dir(dir))
			before := snapshot(t, root)
			// A lock of exactly these paths, whatever they are.
			lock := &rendered.Lock{Version: 2, Origin: rendered.Origin{Talosgen: "1.0.0", Environment: "dev", Cluster: "dev"}, Outputs: rendered.Sorted(Outputs(tt.tree.files()))}
			if tt.version != "" {
				lock.Talosgen = tt.version
			}
			_, err := Write(dir, tt.tree.files(), lock)
			assertProblem(t, err, diag.Input, tt.want)
			if after := snapshot(t, root); !reflect.DeepEqual(before, after) {
				t.Errorf("before\n%v\nafter\n%v", before, after)
			}
		})
	}
}

func TestWriteRefusesALinkedTree(t *testing.T) {
	for _, link := range []string{"rendered", "rendered/dev"} {
		root := t.TempDir()
		elsewhere := t.TempDir()
		err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(root, link)), 0o755), os.Symlink(elsewhere, filepath.Join(root, link)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = writeTree(t, realSystem, filepath.Join(root, "rendered", "dev"), small)
		assertProblem(t, err, diag.Input, link+": is a symbolic link")
		if got := snapshot(t, elsewhere); len(got) != 1 || got["."] != "dir" {
			t.Errorf("elsewhere now holds %v", got)
		}
	}
}

func TestWriteRefusesAnotherLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	lock := lockOf(t, "1.0.0", small.files())
	if _, err := Write(dir, small.without("infra.yaml").files(), lock); err == nil {
		t.Error("a lock that names other files is accepted")
	}
}

// A file that cannot be written is named as it will be, not as it is staged.
func TestUnwritableFileIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	sys := *realSystem
	sys.write = func(path string, data []byte, perm fs.FileMode) error {
		if filepath.Base(path) == "full.yaml" {
			return syscall.ENOSPC
		}
		return writeNew(path, data, perm)
	}
	_, err := writeTree(t, &sys, dir+"/", small.with("nodes/full.yaml", ""))
	assertProblem(t, err, diag.Input, "/dev/nodes/full.yaml: cannot be written: no space left on device\n  the tree is as it was")
	assertTree(t, dir, small, nil)

	_, err = writeTree(t, realSystem, dir, small.with("nodes/"+strings.Repeat("x", 300), ""))
	assertProblem(t, err, diag.Input, "x: cannot be read: file name too long")
}

func TestTreeIsNoDirectory(t *testing.T) {
	root := t.TempDir()
	putFile(t, root, "rendered", "x")
	_, err := writeTree(t, realSystem, filepath.Join(root, "rendered", "dev"), small)
	assertProblem(t, err, diag.Input, "rendered: is not a directory")
}
