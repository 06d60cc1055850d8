//go:build unix

package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/talosgen/talosgen/internal/rendered"
)

// inode tells a file from one that was made in its place.
func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

// oddFile makes a FIFO, which no one writes to.
func oddFile(path string) error { return syscall.Mkfifo(path, 0o644) }

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
			"": 0o755, "nodes": 0o755, "addons/x/deep": 0o755, "nodes/a.yaml": 0o644, rendered.LockName: 0o644,
		} {
			if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
				t.Errorf("umask %o: %s is %v (%v), want %v", umask, path, info, err, want)
			}
		}
	}
}
