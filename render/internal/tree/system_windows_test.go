package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// inode tells a file from one that was made in its place, which here only its time does.
func inode(fs.FileInfo) uint64 { return 0 }

// oddFile makes what is no regular file: there are no FIFOs.
func oddFile(path string) error { return os.Symlink(".", path) }

// Of two that want the lock of a directory one has it, by whatever name.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	first, err := hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, dir + `\`, filepath.Join(dir, "x", "..")} {
		if _, err := hold(name); !errors.Is(err, errHeld) {
			t.Errorf("%s is held, and hold returns %v", name, err)
		}
	}
	first.release()
	again, err := hold(dir)
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	again.release()
	if _, err := hold(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
}
