package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

// faulty wraps a system so that its k-th change of the disk fails, and with
// dead also every one after it, as if the process had been killed there. A
// write that fails has written half. The count says how many were made.
func faulty(inner *system, k int, dead bool) (*system, *int) {
	count := new(int)
	sys := before(inner, func() error {
		if *count++; *count == k || dead && *count > k {
			return syscall.ENOSPC
		}
		return nil
	})
	write := sys.write
	sys.write = func(path string, data []byte, perm fs.FileMode) error {
		err := write(path, data, perm)
		if *count == k {
			err = errors.Join(err, inner.write(path, data[:len(data)/2], perm))
		}
		return err
	}
	return sys, count
}

// before wraps a system: each change of the disk first asks the function, and
// is not made if that fails. Syncs are only asked about: what reaches the disk
// when is not seen by these tests.
func before(inner *system, ask func() error) *system {
	unless := func(do func() error) error {
		if err := ask(); err != nil {
			return err
		}
		return do()
	}
	two := func(f func(a, b string) error) func(a, b string) error {
		return func(a, b string) error { return unless(func() error { return f(a, b) }) }
	}
	return &system{
		mkdir: func(path string, perm fs.FileMode) error {
			return unless(func() error { return inner.mkdir(path, perm) })
		},
		write: func(path string, data []byte, perm fs.FileMode) error {
			return unless(func() error { return inner.write(path, data, perm) })
		},
		link: two(inner.link), symlink: two(inner.symlink), rename: two(inner.rename), exchange: two(inner.exchange),
		sync:      func(string) error { return ask() },
		syncAll:   func([]string) error { return ask() },
		removeAll: func(path string) error { return unless(func() error { return inner.removeAll(path) }) },
	}
}

// withoutExchange is a file system that cannot exchange.
func withoutExchange() *system {
	sys := *realSystem
	sys.exchange = func(_, _ string) error { return unexchangeable[0] }
	return &sys
}

// overlaid is a file system on which the tree's directory can neither be
// exchanged nor renamed, only removed.
func overlaid() *system {
	sys := *realSystem
	sys.exchange = func(_, _ string) error { return errOtherDevice }
	sys.rename = func(from, to string) error {
		if filepath.Base(to) == "old" {
			return errOtherDevice
		}
		return os.Rename(from, to)
	}
	return &sys
}

// TestEveryCallFails fails each change of the disk in turn, once or for good,
// and wants a whole tree, the old or the new one, at once or (without exchange)
// after recovery; then the next write does its work and leaves nothing behind.
func TestEveryCallFails(t *testing.T) {
	older := small.with("nodes/gone.yaml", "g").with("gone/x", "x")
	newer := small.with("nodes/a.yaml", "a changed file of some length").with("new/deep/n.yaml", "n").without("nodes/b.yaml")
	for _, tt := range []struct {
		name     string
		sys      *system
		old, new content
	}{
		{"exchange", realSystem, older, newer},
		{"two steps", withoutExchange(), older, newer},
		{"in place", overlaid(), older, newer},
		{"first render", realSystem, nil, newer},
		{"to nothing", realSystem, older, content{}},
	} {
		for _, dead := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/dead=%v", tt.name, dead), func(t *testing.T) {
				k := 1
				for ; failCall(t, tt.sys, tt.old, tt.new, k, dead); k++ {
				}
				if k < 8 {
					t.Errorf("only %d calls were seen", k)
				}
			})
		}
	}
}

// failCall fails call k, and reports whether there was one.
func failCall(t *testing.T, inner *system, old, next content, k int, dead bool) bool {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rendered", "dev")
	others := content{}
	if old != nil {
		mustWrite(t, dir, old)
		others = content{"nodes/mine": "m", "link": "-> nodes/mine"}
		putFile(t, dir, "nodes/mine", "m")
		if err := os.Symlink("nodes/mine", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	sys, count := faulty(inner, k, dead)
	_, err := writeTree(t, sys, dir, next)
	if *count < k {
		if err != nil {
			t.Errorf("nothing failed, but the error is %v", err)
		}
		return false
	}
	if inner != realSystem && dead {
		// Without exchange, a whole tree is promised after recovery only.
		if err := Recover(dir); err != nil {
			t.Fatal(err)
		}
	}
	isOld := old == nil && !exists(dir) || old != nil && isTree(t, dir, old, others)
	isNew := isTree(t, dir, next, others)
	if err == nil && !isNew || !isOld && !isNew {
		t.Errorf("call %d failed (%v): the tree is %v", k, err, snapshot(t, filepath.Dir(dir)))
	}
	if err != nil {
		assertProblem(t, err, diag.Input, "no space left on device")
		if !dead && !isOld && strings.Contains(err.Error(), "the tree is as it was") {
			t.Errorf("call %d failed (%v), but the tree is new", k, err)
		}
	}
	if s := mustWrite(t, dir, next); isNew && s.Written {
		t.Errorf("call %d: the tree was new, but the next write had work", k)
	}
	assertTree(t, dir, next, others)
	return true
}

func isTree(t *testing.T, dir string, c, others content) bool {
	t.Helper()
	if !exists(dir) {
		return false
	}
	want := c.with(rendered.LockName, string(lockOf(t, "1.0.0", c.files()).Encode()))
	maps.Copy(want, others)
	return reflect.DeepEqual(snapshot(t, dir), want)
}
