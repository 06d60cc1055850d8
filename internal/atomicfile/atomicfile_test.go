package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWriteCreatesAndReplaces(t *testing.T) {
	// The permissions must not depend on the umask.
	defer syscall.Umask(syscall.Umask(0o077))
	path := filepath.Join(t.TempDir(), "keyring.yaml")
	for _, step := range []struct {
		data    string
		perm    fs.FileMode
		written bool
	}{
		{"one", 0o644, true},
		{"one", 0o644, false},
		{"two", 0o600, true},
		{"", 0o644, true},
		{"", 0o644, false},
	} {
		before, _ := os.Stat(path)
		written, err := Write(path, []byte(step.data), step.perm)
		if err != nil || written != step.written {
			t.Fatalf("Write(%q) = %v, %v, want %v", step.data, written, err, step.written)
		}
		assertFile(t, path, step.data, step.perm)
		after, _ := os.Stat(path)
		if !written && !os.SameFile(before, after) {
			t.Errorf("Write(%q) replaced a file that had this content", step.data)
		}
	}
	assertAlone(t, path)
}

func TestWriteKeepsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(real, []byte("old"), 0o644), os.Symlink("real", link)); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(link, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	assertFile(t, real, "new", 0o644)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is now %v (%v)", info, err)
	}
}

func TestWriteFailsWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere/at/all", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"absent/x", "file/x", ".", "dangling"} {
		if _, err := Write(filepath.Join(dir, name), []byte("x"), 0o644); err == nil {
			t.Errorf("Write to %s succeeded", name)
		}
	}
	assertEntries(t, dir, "dangling", "file")
}

func TestFailedPlacingLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	failure := errors.New("no space left")
	path := filepath.Join(dir, "secrets.sops.yaml")
	err := place(path, whole([]byte("x")), 0o600, func(_, _ string) error { return failure })
	if !errors.Is(err, failure) {
		t.Errorf("the error is %v", err)
	}
	assertEntries(t, dir)
}

func TestCreateNeverOverwrites(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := t.TempDir()
	path := filepath.Join(dir, "key.txt")
	if err := Create(path, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second Create gives %v", err)
	}
	assertFile(t, path, "first", 0o600)
	assertAlone(t, path)

	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink("elsewhere", dangling); err != nil {
		t.Fatal(err)
	}
	if err := Create(dangling, []byte("x"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create through a dangling link gives %v", err)
	}
	assertEntries(t, dir, "dangling", "key.txt")
}

// Two that create at once: the first look of both finds nothing, and the link
// decides.
func TestCreateLosesARace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := place(path, whole([]byte("ours")), 0o600, os.Link); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the error is %v", err)
	}
	assertFile(t, path, "theirs", 0o600)
	assertAlone(t, path)
}

// TestCreateStream leaves nothing behind if what writes fails.
func TestCreateStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backup")
	broken := errors.New("broken")
	write := func(fails error) func(io.Writer) error {
		return func(w io.Writer) error {
			for _, piece := range []string{"first ", "second"} {
				if _, err := io.WriteString(w, piece); err != nil {
					return err
				}
			}
			return fails
		}
	}
	if err := CreateStream(path, 0o600, write(broken)); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	assertEntries(t, filepath.Dir(path))
	if err := CreateStream(path, 0o600, write(nil)); err != nil {
		t.Fatal(err)
	}
	assertFile(t, path, "first second", 0o600)
	called := false
	err := CreateStream(path, 0o600, func(io.Writer) error { called = true; return nil })
	if !errors.Is(err, fs.ErrExist) || called {
		t.Errorf("the second gives %v, called %v", err, called)
	}
	assertAlone(t, path)
}

func assertFile(t *testing.T, path, want string, perm fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || string(data) != want {
		t.Errorf("%s holds %q (%v), want %q", path, data, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != perm {
		t.Errorf("%s is %v (%v), want permissions %v", path, info, err, perm)
	}
}

func assertAlone(t *testing.T, path string) {
	t.Helper()
	assertEntries(t, filepath.Dir(path), filepath.Base(path))
}

func assertEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want) {
		t.Fatalf("%s holds %v (%v), want %v", dir, entries, err, want)
	}
	for i, e := range entries {
		if e.Name() != want[i] {
			t.Errorf("%s holds %v, want %v", dir, entries, want)
		}
	}
}
