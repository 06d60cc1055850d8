package config

import (
	"fmt"
	"strconv"
	"strings"
)

// The minor versions of Talos 1 whose contract the machine configurations can
// follow.
const (
	oldestMinor = 9
	newestMinor = 14
)

// checkVersions checks and normalises versions. Whether Talos supports the
// version of Kubernetes is checked with the contract.
func (ch *checker) checkVersions() {
	t := &ch.Talos
	if t.Version != "" {
		t.Version = "v" + strings.TrimPrefix(t.Version, "v")
		ch.checkMinor(t.Version, "version")
	}
	ch.Kubernetes.Version = strings.TrimPrefix(ch.Kubernetes.Version, "v")
	switch {
	case !ch.has("talos", "configContract") && t.Version != "":
		t.ConfigContract = contractOf(t.Version)
	case t.ConfigContract != "":
		t.ConfigContract = "v" + strings.TrimPrefix(t.ConfigContract, "v")
		if ch.checkMinor(t.ConfigContract, "configContract") && t.Version != "" && minor(t.ConfigContract) > minor(t.Version) {
			ch.fail("the old Talos does not know the new vocabulary; upgrade Talos first",
				[]string{"talos", "configContract"}, "configContract %s is newer than Talos %s", t.ConfigContract, t.Version)
		}
	}
}

// checkMinor tells whether a version of Talos is one that is known.
func (ch *checker) checkMinor(version, key string) bool {
	m := minor(version)
	if major, _, _ := strings.Cut(version, "."); major == "v1" && m >= oldestMinor && m <= newestMinor {
		return true
	}
	ch.fail(fmt.Sprintf("this talosgen knows Talos 1.%d to 1.%d", oldestMinor, newestMinor),
		[]string{"talos", key}, "talos.%s %s is not supported", key, version)
	return false
}

// contractOf is the minor version of a version, such as v1.14.
func contractOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return parts[0] + "." + parts[1]
}

// minor is the second number of a version, whose form is checked already; -1
// if it is too large to be one.
func minor(version string) int {
	m, err := strconv.Atoi(strings.SplitN(version, ".", 3)[1])
	if err != nil {
		return -1
	}
	return m
}
