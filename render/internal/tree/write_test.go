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
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/talosgen/talosgen/internal/diag"
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

func lockOf(t testing.TB, version string, files []File) *Lock {
	t.Helper()
	l, err := NewLock(version, []Entry{{"envs/dev/cluster.env", digestA}}, Outputs(files))
	if err != nil {
		t.Fatal(err)
	}
	l.Seal = l.ComputeSeal([]byte("key"))
	return l
}

func writeTree(t testing.TB, sys *system, dir string, c content) (Summary, error) {
	t.Helper()
	files := c.files()
	return write(sys, dir, files, lockOf(t, "1.0.0", files))
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
	want[LockName] = string(lockOf(t, "1.0.0", c.files()).Encode())
	if got := snapshot(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("the tree is\n%v\nwant\n%v", got, want)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the tree lies %v (%v)", entries, err)
	}
}

var small = content{"infra.yaml": "i", "nodes/a.yaml": "a", "nodes/b.yaml": "b", "addons/x/deep/k.yaml": "k"}

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
		stat := info.Sys().(*syscall.Stat_t)
		all = append(all, fmt.Sprint(path, stat.Ino, info.Mode(), info.ModTime().UnixNano()))
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
		os.Chmod(filepath.Join(dir, "own/deep"), 0o711),
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

func TestModesDoNotDependOnTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077, 0o777} {
		dir := filepath.Join(t.TempDir(), "rendered", "dev")
		old := syscall.Umask(umask)
		_, err := writeTree(t, realSystem, dir, small)
		syscall.Umask(old)
		if err != nil {
			t.Fatalf("umask %o: %v", umask, err)
		}
		for path, want := range map[string]fs.FileMode{
			"": 0o755, "nodes": 0o755, "addons/x/deep": 0o755, "nodes/a.yaml": 0o644, LockName: 0o644,
		} {
			if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
				t.Errorf("umask %o: %s is %v (%v), want %v", umask, path, info, err, want)
			}
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
	file := filepath.Join(dir, LockName)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	merged := strings.Replace(string(data), "outputs:\n", "<<<<<<< HEAD\noutputs:\n=======\noutputs:\n", 1)
	putFile(t, dir, LockName, strings.Replace(merged, "seal:", ">>>>>>> other\nseal:", 1))
	next := small.with("nodes/a.yaml", "A").without("nodes/b.yaml")
	mustWrite(t, dir, next)
	assertTree(t, dir, next, nil)
}

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
			if err := os.Remove(filepath.Join(dir, LockName)); err != nil {
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
			lock := &Lock{Talosgen: "1.0.0", Outputs: sorted(Outputs(tt.tree.files()))}
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

func TestTreeIsNoDirectory(t *testing.T) {
	root := t.TempDir()
	putFile(t, root, "rendered", "x")
	_, err := writeTree(t, realSystem, filepath.Join(root, "rendered", "dev"), small)
	assertProblem(t, err, diag.Input, "rendered: is not a directory")
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
	sys.link = func(_, _ string) error { return unix.EPERM }
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

func assertProblem(t *testing.T, err error, code diag.Code, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || diag.CodeOf(err) != code {
		t.Errorf("the error (exit code %d) is %v\nwant %d, %s", diag.CodeOf(err), err, code, want)
	}
}
