//go:build linux

package talosenv

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sysctlFolders are those below /proc/sys that are the host's. Nodes have a
// net of their own.
var sysctlFolders = []string{"fs", "kernel", "vm"}

// notSysctls are those that change by themselves, or that are no settings.
var notSysctls = []string{"kernel/ns_last_pid", "kernel/random/", "fs/binfmt_misc/"}

// saveSysctls notes what the host has, unless another cluster already did:
// machined, the kubelet and the patches of a machine configuration change
// settings of the kernel that all nodes and the host share.
func (s state) saveSysctls() error {
	file := filepath.Join(s.folder, sysctlFile)
	if _, err := os.Stat(file); err == nil {
		return nil
	}

	values, err := s.readSysctls()
	if err != nil {
		return err
	}

	data, err := json.Marshal(values)
	if err != nil {
		return err
	}

	// Whole or not at all: half of it would lose the host's settings.
	if err := os.WriteFile(file+".new", data, 0o644); err != nil {
		return err
	}

	return os.Rename(file+".new", file)
}

// restoreSysctls gives the host back what was changed.
func (s state) restoreSysctls() error {
	file := filepath.Join(s.folder, sysctlFile)

	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return err
	}

	var before map[string]string
	if err := json.Unmarshal(data, &before); err != nil {
		return err
	}

	now, err := s.readSysctls()
	if err != nil {
		return err
	}

	var errs []error

	for name, value := range before {
		if now[name] != value {
			errs = append(errs, os.WriteFile(filepath.Join(s.procSys, name), []byte(value), 0))
		}
	}

	if err := errors.Join(errs...); err != nil {
		return err
	}

	return os.Remove(file)
}

// readSysctls reads all that may be read and written.
func (s state) readSysctls() (map[string]string, error) {
	values := map[string]string{}

	for _, folder := range sysctlFolders {
		err := filepath.WalkDir(filepath.Join(s.procSys, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}

			name, err := filepath.Rel(s.procSys, path)
			if err != nil {
				return err
			}

			info, err := entry.Info()
			if err != nil {
				return err
			}

			if info.Mode().Perm()&0o600 != 0o600 || isNoSysctl(name) {
				return nil
			}

			// Some may not be read on this machine; those are not written either.
			if value, err := os.ReadFile(path); err == nil {
				values[name] = string(value)
			}

			return nil
		})
		if err != nil {
			return nil, err
		}
	}

	return values, nil
}

func isNoSysctl(name string) bool {
	for _, prefix := range notSysctls {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}

	return false
}
