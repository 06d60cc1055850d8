//go:build linux

package talosenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// removeWithin is how long the kernel may take to kill what is in a cgroup.
const removeWithin = 10 * time.Second

// cgroupMount finds where the hierarchy of cgroups v2 is mounted: alone, or,
// without controllers, beside those of v1.
func cgroupMount() (string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}

	for line := range strings.Lines(string(data)) {
		mount, kind, found := strings.Cut(line, " - ")
		if fields := strings.Fields(mount); found && len(fields) > 4 && strings.HasPrefix(kind, "cgroup2 ") {
			return fields[4], nil
		}
	}

	return "", errors.New("this machine has no cgroups v2")
}

// makeCgroup makes a cgroup and lets those in it have the controllers that
// there are.
func makeCgroup(folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}

	controllers, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	if err != nil {
		return err
	}

	for _, controller := range strings.Fields(string(controllers)) {
		err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte("+"+controller), 0)
		if err != nil {
			return fmt.Errorf("passing on controller %s: %w", controller, err)
		}
	}

	return nil
}

// removeCgroup kills everything in a cgroup and below, and removes it.
func removeCgroup(folder string) error {
	err := os.WriteFile(filepath.Join(folder, "cgroup.kill"), []byte("1"), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return err
	}

	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()

	deadline := time.Now().Add(removeWithin)

	for {
		err := removeFolders(folder)
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}

		<-ticker.C
	}
}

// removeFolders removes a folder and those below it. The files of cgroups go
// with their folders.
func removeFolders(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return err
	}

	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeFolders(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}

	if err := syscall.Rmdir(folder); err != nil && !errors.Is(err, syscall.ENOENT) {
		return &fs.PathError{Op: "rmdir", Path: folder, Err: err}
	}

	return nil
}

// ProcessorTime is what the nodes, and all that is started beside them, have used so
// far, those included that were stopped.
func (c *Cluster) ProcessorTime(t testing.TB) time.Duration {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(c.claim.cgroup, "cpu.stat"))
	if err != nil {
		t.Fatal(err)
	}

	var used time.Duration
	if _, err := fmt.Sscanf(string(text), "usage_usec %d", &used); err != nil {
		t.Fatalf("cpu.stat: %v", err)
	}

	return used * time.Microsecond
}
