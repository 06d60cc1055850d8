package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

func TestWriteSummary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rendered", "dev")
	all := slices.Sorted(maps.Keys(small))
	next := small.with("nodes/a.yaml", "A").with("nodes/c.yaml", "c").without("nodes/b.yaml").without("addons/x/deep/k.yaml")
	for i, step := range []struct {
		tree content
		want Summary
	}{
		{small, Summary{Added: all, Written: true}},
		{small, Summary{Unchanged: all}},
		{next, Summary{
			Added: []string{"nodes/c.yaml"}, Changed: []string{"nodes/a.yaml"},
			Removed:   []string{"addons/x/deep/k.yaml", "nodes/b.yaml"},
			Unchanged: []string{"infra.yaml"}, Written: true,
		}},
		{content{}, Summary{Removed: slices.Sorted(maps.Keys(next)), Written: true}},
		{content{}, Summary{}},
		{small, Summary{Added: all, Written: true}},
	} {
		got := mustWrite(t, dir, step.tree)
		if !reflect.DeepEqual(got, step.want) {
			t.Errorf("step %d: got %+v, want %+v", i, got, step.want)
		}
		assertTree(t, dir, step.tree, nil)
	}
}

// A write that has nothing to do does not touch the disk: any change through
// the system fails this test, and so do a new directory or time stamp.
func TestNothingToDoTouchesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	before := stamps(t, filepath.Dir(dir))
	refuse, _ := faulty(realSystem, 1, true)
	if s, err := writeTree(t, refuse, dir, small); err != nil || s.Written {
		t.Errorf("got %+v, %v", s, err)
	}
	if after := stamps(t, filepath.Dir(dir)); !reflect.DeepEqual(before, after) {
		t.Errorf("before\n%v\nafter\n%v", before, after)
	}
}

func stamps(t *testing.T, root string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		info, err2 := os.Lstat(path)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		all = append(all, fmt.Sprint(path, inode(info), info.Mode(), info.ModTime().UnixNano()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOnlyTheLockDiffers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	files := small.files()
	lock := lockOf(t, "1.0.1", files)
	s, err := Write(dir, files, lock)
	if err != nil || !s.Written || len(s.Unchanged) != len(small) {
		t.Errorf("got %+v, %v", s, err)
	}
	if got, err := ReadLock(dir, "1.0.1"); err != nil || !reflect.DeepEqual(got, lock) {
		t.Errorf("the lock is %v (%v)", got, err)
	}
}

// Unchanged files are linked from the old tree, not written again.
func TestUnchangedFilesAreNotRewritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	before, err := os.Stat(filepath.Join(dir, "nodes/b.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, dir, small.with("nodes/a.yaml", "A"))
	after, err := os.Stat(filepath.Join(dir, "nodes/b.yaml"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file is another one now (%v)", err)
	}
}

// What talosgen did not write stays as it is, at the first render and later.
func TestOtherFilesAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	others := content{
		"README.md": "mine", "nodes/README": "mine too", "own/deep/x": "x", "own/empty": "dir",
		"link": "-> README.md", "dangling": "-> nowhere", "outside": "-> ../../../etc",
	}
	putFile(t, dir, "README.md", "mine")
	putFile(t, dir, "nodes/README", "mine too")
	putFile(t, dir, "own/deep/x", "x")
	err := errors.Join(
		os.Mkdir(filepath.Join(dir, "own/empty"), 0o755),
		os.Symlink("README.md", filepath.Join(dir, "link")),
		os.Symlink("nowhere", filepath.Join(dir, "dangling")),
		os.Symlink("../../../etc", filepath.Join(dir, "outside")),
		os.Chmod(filepath.Join(dir, "README.md"), 0o600),
		os.Chmod(filepath.Join(dir, "own/deep/x"), 0o755),
		os.Chmod(filepath.Join(dir, "own/deep"), 0o511),
		os.Chmod(filepath.Join(dir, "own/empty"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []content{small, small.with("nodes/a.yaml", "A"), small.without("nodes/a.yaml").without("nodes/b.yaml"), {}} {
		mustWrite(t, dir, c)
		assertTree(t, dir, c, others)
	}
	for path, want := range map[string]fs.FileMode{"README.md": 0o600, "own/deep/x": 0o755, "own/deep": 0o711, "own/empty": 0o700} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v (%v), want %v", path, info, err, want)
		}
	}
}

func TestFilesAndDirectoriesChangePlaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	for _, c := range []content{{"a": "1", "b/c": "2"}, {"a/x": "1", "b": "2"}, {"a": "1", "b/c": "2"}} {
		mustWrite(t, dir, c)
		assertTree(t, dir, c, nil)
	}
}

func TestEditedOutputsAreRepaired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	putFile(t, dir, "nodes/a.yaml", "edited")
	err := errors.Join(
		os.Remove(filepath.Join(dir, "nodes/b.yaml")),
		os.Remove(filepath.Join(dir, "infra.yaml")),
		os.Symlink("nodes/a.yaml", filepath.Join(dir, "infra.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	want := Summary{
		Added: []string{"nodes/b.yaml"}, Changed: []string{"infra.yaml", "nodes/a.yaml"},
		Unchanged: []string{"addons/x/deep/k.yaml"}, Written: true,
	}
	if got := mustWrite(t, dir, small); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	assertTree(t, dir, small, nil)

	// An edit that the render then makes too needs no write of the file.
	putFile(t, dir, "nodes/a.yaml", "A")
	if got := mustWrite(t, dir, small.with("nodes/a.yaml", "A")); len(got.Changed) > 0 {
		t.Errorf("got %+v", got)
	}
}

// An output that a user replaced by a directory of his own: it stays if the
// render does not want that path any more.
func TestDirectoryInPlaceOfAnOldOutput(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	if err := os.Remove(filepath.Join(dir, "infra.yaml")); err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, "infra.yaml/notes", "mine")
	_, err := writeTree(t, realSystem, dir, small)
	assertProblem(t, err, diag.Input, "infra.yaml/notes: exists and was not written by talosgen")
	next := small.without("infra.yaml")
	if s := mustWrite(t, dir, next); len(s.Removed) > 0 {
		t.Errorf("got %+v", s)
	}
	assertTree(t, dir, next, content{"infra.yaml/notes": "mine"})
}

func TestDamagedLockIsRepaired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	file := filepath.Join(dir, rendered.LockName)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	merged := strings.Replace(string(data), "outputs:\n", "<<<<<<< HEAD\noutputs:\n=======\noutputs:\n", 1)
	putFile(t, dir, rendered.LockName, strings.Replace(merged, "seal:", ">>>>>>> other\nseal:", 1))
	next := small.with("nodes/a.yaml", "A").without("nodes/b.yaml")
	mustWrite(t, dir, next)
	assertTree(t, dir, next, nil)
}

// Of two writes at once, the second fails at once, and recovery leaves the
// first one alone.
func TestTwoWritesAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	next := small.with("infra.yaml", "I")
	sys := *realSystem
	met := 0
	sys.syncAll = func(paths []string) error {
		met++
		_, err := writeTree(t, realSystem, dir, small.with("infra.yaml", "other"))
		assertProblem(t, err, diag.Conflict, "environment dev: another talosgen is writing it")
		if s, err := writeTree(t, realSystem, dir, small); err != nil || s.Written {
			t.Errorf("a write with nothing to do gives %+v, %v", s, err)
		}
		if err := Recover(dir); err != nil {
			t.Error(err)
		}
		mustWrite(t, filepath.Join(filepath.Dir(dir), "prod"), small) // another environment is free
		return syncAll(paths)
	}
	if _, err := writeTree(t, &sys, dir, next); err != nil || met != 1 {
		t.Errorf("the first write: %v, met %d times", err, met)
	}
	if err := os.RemoveAll(filepath.Join(filepath.Dir(dir), "prod")); err != nil {
		t.Fatal(err)
	}
	assertTree(t, dir, next, nil)
}

// Another run changes the tree after this one planned, before it has the lock:
// the plan is made anew.
func TestPlanIsMadeAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	theirs := small.with("nodes/theirs.yaml", "t").without("nodes/a.yaml")
	ours := small.with("nodes/ours.yaml", "o")
	sys := *realSystem
	first := true
	sys.mkdir = func(path string, perm fs.FileMode) error {
		if first {
			first = false
			mustWrite(t, dir, theirs)
		}
		return mkdir(path, perm)
	}
	s, err := writeTree(t, &sys, dir, ours)
	want := Summary{
		Added: []string{"nodes/a.yaml", "nodes/ours.yaml"}, Removed: []string{"nodes/theirs.yaml"},
		Unchanged: []string{"addons/x/deep/k.yaml", "infra.yaml", "nodes/b.yaml"}, Written: true,
	}
	if err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v (%v), want %+v", s, err, want)
	}
	assertTree(t, dir, ours, nil)
}

// On file systems without hard links, files are copied.
func TestWithoutHardLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	putFile(t, dir, "own", "mine")
	if err := os.Chmod(filepath.Join(dir, "own"), 0o751); err != nil {
		t.Fatal(err)
	}
	sys := *realSystem
	sys.link = func(_, _ string) error { return unlinkable[0] }
	next := small.with("infra.yaml", "I")
	if _, err := writeTree(t, &sys, dir, next); err != nil {
		t.Fatal(err)
	}
	assertTree(t, dir, next, content{"own": "mine"})
	if info, err := os.Stat(filepath.Join(dir, "own")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("own is %v (%v)", info, err)
	}
}

func TestSyncAll(t *testing.T) {
	root := t.TempDir()
	putFile(t, root, "file", "x")
	for _, n := range []int{1, 100} { // path by path, and at once
		paths := slices.Repeat([]string{root, filepath.Join(root, "file")}, n)
		if err := syncAll(paths); err != nil {
			t.Errorf("%d paths: %v", 2*n, err)
		}
	}
	for _, sync := range []func([]string) error{syncAll, syncEach} {
		if err := sync([]string{filepath.Join(root, "absent")}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the error is %v", err)
		}
	}
}
