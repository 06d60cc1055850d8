package tree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

// content is a tree as path → data.
type content map[string]string

func (c content) files() []File {
	var files []File
	for path, data := range c {
		files = append(files, File{path, []byte(data)})
	}
	return files // in random order, which must not matter
}

func (c content) with(path, data string) content {
	c = maps.Clone(c)
	c[path] = data
	return c
}

func (c content) without(path string) content {
	c = maps.Clone(c)
	delete(c, path)
	return c
}

const digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func lockOf(t testing.TB, version string, files []File) *rendered.Lock {
	t.Helper()
	l, err := rendered.NewLock(rendered.Origin{Talosgen: version, Environment: "dev", Cluster: "dev"}, []rendered.Entry{{Path: "envs/dev/cluster.env", Digest: digestA}}, Outputs(files))
	if err != nil {
		t.Fatal(err)
	}
	l.Seal = l.ComputeSeal([]byte("key"))
	return l
}

func writeTree(t testing.TB, sys *system, dir string, c content) (Summary, error) {
	t.Helper()
	files := c.files()
	return write(sys, filepath.Clean(dir), files, lockOf(t, "1.0.0", files))
}

// mustWrite leaves out the syncs, which tests cannot see and which take long.
func mustWrite(t testing.TB, dir string, c content) Summary {
	t.Helper()
	sys := *realSystem
	sys.sync = func(string) error { return nil }
	sys.syncAll = func([]string) error { return nil }
	s, err := writeTree(t, &sys, dir, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// snapshot reads everything below root: path → content, "-> target" for links,
// "dir" for directories without entries.
func snapshot(t testing.TB, root string) content {
	t.Helper()
	c := content{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		switch d.Type() {
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			c[rel] = "-> " + target
			return err
		case fs.ModeDir:
			entries, err := os.ReadDir(path)
			if len(entries) == 0 {
				c[rel] = "dir"
			}
			return err
		case 0:
			data, err := os.ReadFile(path)
			c[rel] = string(data)
			return err
		}
		c[rel] = d.Type().String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// assertTree wants the tree to be exactly c, its lock and the others, and
// nothing beside the tree.
func assertTree(t testing.TB, dir string, c, others content) {
	t.Helper()
	want := content{}
	maps.Copy(want, others)
	maps.Copy(want, c)
	want[rendered.LockName] = string(lockOf(t, "1.0.0", c.files()).Encode())
	if got := snapshot(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("the tree is\n%v\nwant\n%v", got, want)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the tree lies %v (%v)", entries, err)
	}
}

var small = content{"infra.yaml": "i", "nodes/a.yaml": "a", "nodes/b.yaml": "b", "addons/x/deep/k.yaml": "k"}

func assertProblem(t *testing.T, err error, code diag.Code, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || diag.CodeOf(err) != code {
		t.Errorf("the error (exit code %d) is %v\nwant %d, %s", diag.CodeOf(err), err, code, want)
	}
}

func putFile(t testing.TB, dir, path, data string) {
	t.Helper()
	file := filepath.Join(dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(data), 0o644)); err != nil {
		t.Fatal(err)
	}
}
