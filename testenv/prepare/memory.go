package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// availableMemory is how many bytes programs may take without others having to
// give any back, or 0 where the system does not tell.
func availableMemory() uint64 {
	machine, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}

	// Of the container, if this is one. A file that is not there limits nothing.
	limit, _ := os.ReadFile("/sys/fs/cgroup/memory.max")
	used, _ := os.ReadFile("/sys/fs/cgroup/memory.current")

	return min(ofMachine(machine), ofContainer(limit, used))
}

// ofMachine reads /proc/meminfo, which counts in KiB.
func ofMachine(meminfo []byte) uint64 {
	for line := range strings.Lines(string(meminfo)) {
		var available uint64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &available); n == 1 {
			return available << 10
		}
	}

	return 0
}

// ofContainer is the limit of a cgroup (v2) without what it uses. What the
// kernel could take back of that is counted as used: this errs to one side.
func ofContainer(limit, used []byte) uint64 {
	most, err := strconv.ParseUint(string(bytes.TrimSpace(limit)), 10, 64)
	if err != nil {
		return math.MaxUint64 // "max", or no such file
	}

	now, err := strconv.ParseUint(string(bytes.TrimSpace(used)), 10, 64)
	if err != nil || now > most {
		return 0
	}

	return most - now
}
