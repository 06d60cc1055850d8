// Command runc stands before the real runc of a test node, and takes out of a
// container's specification what the machine under the node cannot give:
// limits, where its cgroups have no controllers, and protection from the
// out-of-memory killer, where it may not be granted.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// real is the program that this one stands before.
const real = "/usr/bin/runc.real"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "runc wrapper:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if bundle, ok := bundleOf(args); ok {
		if err := relax(filepath.Join(bundle, "config.json")); err != nil {
			return err
		}
	}

	return syscall.Exec(real, append([]string{"runc"}, args...), os.Environ())
}

// bundleOf returns the folder of the container that is to be made.
func bundleOf(args []string) (string, bool) {
	if !slices.Contains(args, "create") && !slices.Contains(args, "run") {
		return "", false
	}

	i := slices.Index(args, "--bundle")
	if i < 0 || i+1 == len(args) {
		return "", false
	}

	return args[i+1], true
}

// relax rewrites the specification of a container.
func relax(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}

	var spec map[string]any
	if err := json.Unmarshal(data, &spec); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}

	controllers, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}

	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}

	edit(spec, strings.Fields(string(controllers)), maySetResources(string(status)))

	if data, err = json.Marshal(spec); err != nil {
		return err
	}

	return os.WriteFile(name, data, 0o600)
}

// edit takes out of a specification what needs controllers that are not
// there, or the right to set resources.
func edit(spec map[string]any, controllers []string, resources bool) {
	process, _ := spec["process"].(map[string]any)
	if score, ok := process["oomScoreAdj"].(float64); ok && score < 0 && !resources {
		delete(process, "oomScoreAdj")
	}

	linux, _ := spec["linux"].(map[string]any)
	limits, _ := linux["resources"].(map[string]any)

	for limit, controller := range map[string]string{
		"cpu": "cpu", "memory": "memory", "pids": "pids", "blockIO": "io", "hugepageLimits": "hugetlb",
	} {
		if !slices.Contains(controllers, controller) {
			delete(limits, limit)
		}
	}

	if len(controllers) == 0 {
		delete(limits, "unified")
	}
}

// maySetResources tells whether a process with this status in /proc has
// CAP_SYS_RESOURCE.
func maySetResources(status string) bool {
	const capability = 24

	for line := range strings.Lines(status) {
		var set uint64
		if n, err := fmt.Sscanf(line, "CapEff: %x", &set); n == 1 && err == nil {
			return set&(1<<capability) != 0
		}
	}

	return false
}
