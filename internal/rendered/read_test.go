package rendered

import (
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/internal/diag"
)

// treeOf lays out files with a lock of theirs, and a file that is not in it.
func treeOf(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	tree := fstest.MapFS{"README": {Data: []byte("mine")}}
	var outputs []Entry
	for path, text := range files {
		tree[path] = &fstest.MapFile{Data: []byte(text)}
		outputs = append(outputs, Entry{path, Digest([]byte(text))})
	}
	lock, err := NewLock(exampleOrigin, nil, outputs)
	if err != nil {
		t.Fatal(err)
	}
	lock.Seal = lock.ComputeSeal(nil)
	tree[LockName] = &fstest.MapFile{Data: lock.Encode()}
	return tree
}

func TestRead(t *testing.T) {
	files := map[string]string{"infrastructure.yaml": "i", "nodes/a.yaml": "a", "nodes/b.yaml": "b"}
	tree, err := Read(treeOf(t, files), "rendered/dev", "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"infrastructure.yaml": []byte("i"), "nodes/a.yaml": []byte("a"), "nodes/b.yaml": []byte("b")}
	if !reflect.DeepEqual(tree.Files, want) || len(tree.Lock.Outputs) != 3 || tree.Lock.VerifySeal(nil) != nil {
		t.Errorf("files %q, lock %+v", tree.Files, tree.Lock)
	}
}

// broken is a file system in which one file cannot be read.
type broken struct {
	fstest.MapFS
	name string
}

func (b broken) Open(name string) (fs.File, error) {
	if name == b.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("disk on fire")}
	}
	return b.MapFS.Open(name)
}

func (b broken) ReadFile(name string) ([]byte, error) {
	if _, err := b.Open(name); err != nil {
		return nil, err
	}
	return b.MapFS.ReadFile(name)
}

func TestReadRefuses(t *testing.T) {
	files := map[string]string{"infrastructure.yaml": "i", "nodes/a.yaml": "a", "nodes/b.yaml": "b"}
	const dir = "rendered/dev/"
	for name, tt := range map[string]struct {
		change func(fstest.MapFS) fs.FS
		code   diag.Code
		want   string
	}{
		"no lock": {func(m fstest.MapFS) fs.FS { delete(m, LockName); return m }, diag.Input,
			dir + LockName + ": does not exist\n  render the environment first, and commit what it writes"},
		"damaged lock": {func(m fstest.MapFS) fs.FS { m[LockName].Data = []byte("x\n"); return m }, diag.Input, dir + LockName + ":1: expected"},
		"newer lock": {func(m fstest.MapFS) fs.FS {
			m[LockName].Data = []byte("version: 4\n")
			return m
		}, diag.Input, dir + LockName + ": written by talosgen a newer version, this is 0.1.0"},
		"unreadable lock": {func(m fstest.MapFS) fs.FS { return broken{m, LockName} }, diag.Input, dir + LockName + ": cannot be read: disk on fire"},
		"edited":          {func(m fstest.MapFS) fs.FS { m["nodes/a.yaml"].Data = []byte("A"); return m }, diag.Secrets, dir + "nodes/a.yaml: is not what render wrote\n  rendered files are never edited"},
		"gone":            {func(m fstest.MapFS) fs.FS { delete(m, "nodes/a.yaml"); return m }, diag.Secrets, dir + "nodes/a.yaml: is missing"},
		"a link": {func(m fstest.MapFS) fs.FS {
			m["nodes/a.yaml"] = &fstest.MapFile{Data: []byte("b.yaml"), Mode: fs.ModeSymlink}
			return m
		}, diag.Secrets, dir + "nodes/a.yaml: is not a file of its own"},
		"a directory": {func(m fstest.MapFS) fs.FS {
			m["nodes/a.yaml"] = &fstest.MapFile{Mode: fs.ModeDir}
			return m
		}, diag.Secrets, dir + "nodes/a.yaml: is not a file of its own"},
		"unreadable": {func(m fstest.MapFS) fs.FS { return broken{m, "nodes/a.yaml"} }, diag.Input, dir + "nodes/a.yaml: cannot be read: disk on fire"},
		"several": {func(m fstest.MapFS) fs.FS {
			maps.DeleteFunc(m, func(path string, _ *fstest.MapFile) bool { return strings.HasPrefix(path, "nodes/") })
			return m
		}, diag.Secrets, "nodes/b.yaml: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(tt.change(treeOf(t, files)), "rendered/dev", "0.1.0")
			if err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != tt.code {
				t.Errorf("error (exit code %d) %v\nwant %d, %s", diag.CodeOf(err), err, tt.code, tt.want)
			}
			if name == "several" && !strings.Contains(err.Error(), "2 problems") {
				t.Errorf("error %v, want both problems", err)
			}
		})
	}
}
