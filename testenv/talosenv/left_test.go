//go:build linux

package talosenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/filelock"
)

// checkNothingLeft makes sure that every cgroup, device, folder and mount is
// of a test that runs. The kernel may take a moment to end a process that it
// has killed, and what that process has locked is cleared away after that.
func checkNothingLeft(t *testing.T) {
	t.Helper()

	cgroups, err := cgroupMount()
	if err != nil {
		t.Fatal(err)
	}

	s := state{folder: stateFolder, cgroups: cgroups, procSys: "/proc/sys"}

	eventually(t, 10*time.Second, func(context.Context) error {
		unlock, err := s.lock()
		if err != nil {
			return err
		}
		defer unlock()

		return errors.Join(s.reap(), s.left())
	})
}

// left is an error that names what belongs to no test that runs.
func (s state) left() error {
	octets, err := s.octets()
	if err != nil {
		return err
	}

	var live []string

	for _, octet := range octets {
		lock, err := filelock.Try(filepath.Join(s.of(octet), lockFile))
		if err != nil {
			return err
		}

		if lock != nil {
			return errors.Join(fmt.Errorf("%s is nobody's", lock.Name()), lock.Close())
		}

		live = append(live, device(octet))
	}

	names, err := s.names()
	if err != nil {
		return err
	}

	for _, name := range names {
		if strings.HasPrefix(name, "talosgen-") && !slices.Contains(live, name) {
			return fmt.Errorf("%s is left", name)
		}
	}

	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err == nil && strings.Contains(string(mounts), s.folder) {
		err = fmt.Errorf("mounts are left:\n%s", mounts)
	}

	return err
}

// names are those of all cgroups at the top and all network devices.
func (s state) names() ([]string, error) {
	entries, err := os.ReadDir(s.cgroups)
	if err != nil {
		return nil, err
	}

	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}

	var names []string

	for _, entry := range entries {
		names = append(names, entry.Name())
	}

	for _, i := range interfaces {
		names = append(names, i.Name)
	}

	return names, nil
}
