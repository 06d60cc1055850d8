package config

import (
	"strings"

	"github.com/talosgen/talosgen/internal/versions"
)

// checkVersions checks and normalises versions. Whether Talos supports the
// version of Kubernetes is checked with the contract.
func (ch fileRules) checkVersions() {
	t := &ch.Talos
	if t.Version != "" {
		t.Version = "v" + strings.TrimPrefix(t.Version, "v")
		ch.checkTalosVersion()
	}
	ch.Kubernetes.Version = strings.TrimPrefix(ch.Kubernetes.Version, "v")
	switch {
	case !ch.has("talos", "configContract") && t.Version != "":
		t.ConfigContract = contractOf(t.Version)
	case t.ConfigContract != "":
		t.ConfigContract = "v" + strings.TrimPrefix(t.ConfigContract, "v")
		if ch.checkMinor(t.ConfigContract, "configContract") && t.Version != "" && versions.Minor(t.ConfigContract) > versions.Minor(t.Version) {
			ch.fail("the old Talos does not know the new vocabulary; upgrade Talos first",
				[]string{"talos", "configContract"}, "configContract %s is newer than Talos %s", t.ConfigContract, t.Version)
		}
	}
}

// checkMinor tells whether a version of Talos is one that is known.
func (ch fileRules) checkMinor(version, key string) bool {
	if _, known := versions.Of(version); known {
		return true
	}
	ch.fail("this talosgen knows Talos "+versions.Range(), []string{"talos", key}, "talos.%s %s is not supported", key, version)
	return false
}

// checkTalosVersion warns of a Talos that is newer than all that are known, and refuses
// another that is not known. Nodes of the newer one take the newest known
// contract: Talos keeps reading those of older releases.
func (ch fileRules) checkTalosVersion() {
	version := ch.Talos.Version
	if !versions.Newer(version) {
		ch.checkMinor(version, "version")
		return
	}
	ch.warn("documents of kinds that are new in it are passed on unchecked", []string{"talos", "version"},
		"Talos %s is newer than this talosgen, which knows %s: configurations follow contract %s", version, versions.Range(), versions.Newest().Contract())
}

// contractOf is the contract of a version of Talos, such as v1.14: the newest known
// one, if the version is newer.
func contractOf(version string) string {
	if versions.Newer(version) {
		return versions.Newest().Contract()
	}
	parts := strings.SplitN(version, ".", 3)
	return parts[0] + "." + parts[1]
}
