//go:build linux

package talosenv

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// sysctls are those that machined or the kubelet changes and that are not a
// namespace's but the host's, as paths below /proc/sys.
var sysctls = []string{
	"kernel/panic",
	"kernel/panic_on_oops",
	"vm/overcommit_memory",
	"fs/inotify/max_user_instances",
}

// saveSysctls notes what the host has, unless another cluster already did.
func (s state) saveSysctls() error {
	file := filepath.Join(s.folder, sysctlFile)
	if _, err := os.Stat(file); err == nil {
		return nil
	}

	values := map[string]string{}

	for _, name := range sysctls {
		value, err := os.ReadFile(filepath.Join(s.procSys, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}

		if err != nil {
			return err
		}

		values[name] = string(value)
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

// restoreSysctls gives the host what was saved.
func (s state) restoreSysctls() error {
	file := filepath.Join(s.folder, sysctlFile)

	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return err
	}

	var values map[string]string
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}

	for name, value := range values {
		if err := os.WriteFile(filepath.Join(s.procSys, name), []byte(value), 0); err != nil {
			return err
		}
	}

	return os.Remove(file)
}
