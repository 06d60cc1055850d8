package tree

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// The old tree comes back if the new one cannot take its place.
func TestSecondStepNeverWorks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	sys := withoutExchange()
	sys.rename = func(from, to string) error {
		if filepath.Base(from) == "tree" {
			return syscall.EIO
		}
		return os.Rename(from, to)
	}
	_, err := writeTree(t, sys, dir, small.with("infra.yaml", "I"))
	assertProblem(t, err, diag.Input, "dev: cannot be written: input/output error\n  the tree is as it was")
	assertTree(t, dir, small, nil)
}

// If there is no way back either, the next run goes on.
func TestNoWayBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	sys := withoutExchange()
	sys.rename = func(from, to string) error {
		if to == dir {
			return syscall.EIO
		}
		return os.Rename(from, to)
	}
	next := small.with("infra.yaml", "I")
	_, err := writeTree(t, sys, dir, next)
	assertProblem(t, err, diag.Input, "cannot be completed: input/output error\n  check permissions and free space, then render again")
	err = recoverTree(sys, dir)
	assertProblem(t, err, diag.Input, "cannot be completed: input/output error")
	if err := Recover(dir); err != nil {
		t.Fatal(err)
	}
	assertTree(t, dir, next, nil)
}

// A staged tree that was removed in part is never taken for a complete one,
// even if the tree in its place vanishes meanwhile.
func TestPartlyRemovedTreeIsNotComplete(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	mustWrite(t, dir, small)
	sys := withoutExchange()
	sys.rename = func(_, _ string) error { return syscall.EIO }
	removed := false
	sys.removeAll = func(path string) error {
		if filepath.Base(path) == "tree" && exists(path) {
			removed = true
			return os.Remove(filepath.Join(path, "infra.yaml")) // and then the process is killed
		}
		if removed {
			return syscall.EIO
		}
		return os.RemoveAll(path)
	}
	_, err := writeTree(t, sys, dir, small.with("nodes/a.yaml", "A"))
	assertProblem(t, err, diag.Input, "input/output error")
	if !removed {
		t.Fatal("the staged tree was not removed in part")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := Recover(dir); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) > 0 {
		t.Errorf("after recovery there is %v (%v)", entries, err)
	}
}

// Recovery must not follow or remove what is not a staging directory.
func TestRecoverOfSomethingElse(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	dir := filepath.Join(root, "dev")
	if err := Recover(dir); err != nil {
		t.Errorf("with nothing there: %v", err)
	}
	putFile(t, elsewhere, "tree/x", "x")
	if err := os.Symlink(elsewhere, filepath.Join(root, ".talosgen-dev")); err != nil {
		t.Fatal(err)
	}
	if err := Recover(dir); err != nil {
		t.Error(err)
	}
	_, err := writeTree(t, realSystem, dir, small)
	assertProblem(t, err, diag.Input, ".talosgen-dev: cannot be written: not a directory")
	if !exists(filepath.Join(elsewhere, "tree/x")) {
		t.Error("a file elsewhere was removed")
	}
}

// While a tree is staged, git is told to ignore all of it.
func TestStagingIsIgnoredByGit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	sys := *realSystem
	staged := ""
	sys.syncAll = func([]string) error {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(dir), ".talosgen-dev", ".gitignore"))
		staged = string(data)
		return err
	}
	if _, err := writeTree(t, &sys, dir, small); err != nil || staged != "*\n" {
		t.Errorf(".gitignore holds %q (%v)", staged, err)
	}
}

// The lock of a directory that was removed and made again meanwhile is worth
// nothing.
func TestStagingIsCurrent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	s, err := openStaging(realSystem, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.held.release()
	if !s.held.isCurrent(s.path) {
		t.Error("a new staging directory is not current")
	}
	if err := os.Rename(s.path, s.path+".moved"); err != nil {
		t.Fatal(err)
	}
	if s.held.isCurrent(s.path) {
		t.Error("a moved staging directory is current")
	}
	if err := os.Mkdir(s.path, dirPerm); err != nil {
		t.Fatal(err)
	}
	if s.held.isCurrent(s.path) {
		t.Error("a replaced staging directory is current")
	}
}
