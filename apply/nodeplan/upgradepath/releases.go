package upgradepath

import (
	"slices"

	"github.com/blang/semver/v4"
)

// release is what is known of a minor release of Talos.
//
// Sources: pkg/machinery/compatibility for what it supports, and
// pkg/machinery/constants at the tag of each patch for the defaults.
type release struct {
	minor uint64
	// The newest patch that was known when this was written, and the default
	// version of Kubernetes that it has.
	patch      uint64
	kubernetes string
	// The minors of Kubernetes that it supports.
	oldest, newest uint64
	// The version of etcd that it brings, by the first patch that does.
	etcd map[uint64]string
}

// releases are those of Talos 1, from the oldest on.
var releases = []release{
	{8, 4, "1.31.4", 26, 31, map[uint64]string{0: "3.5.16", 4: "3.5.17"}},
	{9, 6, "1.32.4", 27, 32, map[uint64]string{0: "3.5.17", 3: "3.5.18", 5: "3.5.19", 6: "3.5.21"}},
	{10, 9, "1.33.6", 28, 33, map[uint64]string{0: "3.5.21", 9: "3.5.26"}},
	{11, 6, "1.34.1", 29, 34, map[uint64]string{0: "3.6.4", 3: "3.6.5"}},
	{12, 11, "1.35.4", 30, 35, map[uint64]string{0: "3.6.7", 5: "3.6.8", 7: "3.6.9", 8: "3.6.11"}},
	{13, 9, "1.36.3", 31, 36, map[uint64]string{0: "3.6.9", 1: "3.6.11", 4: "3.6.12"}},
	{14, 1, "1.37.0", 32, 37, map[uint64]string{0: "3.7.1"}},
}

// floors are the versions that every member of etcd must have before one of the
// next minor joins: older ones would corrupt or lose members in a mixed cluster
// (etcd.io, upgrade guides to 3.6 and 3.7).
var floors = map[uint64]string{6: "3.5.26", 7: "3.6.11"}

// releaseOf finds the release of a version of Talos; nil if it is not known.
func releaseOf(talos semver.Version) *release {
	i := slices.IndexFunc(releases, func(r release) bool { return talos.Major == 1 && r.minor == talos.Minor })
	if i < 0 {
		return nil
	}
	return &releases[i]
}

// Supports reports whether a version of Talos supports one of Kubernetes; known is
// false if talosgen does not know that Talos.
func Supports(talos, kubernetes string) (supported, known bool) {
	t, k := parse(talos), parse(kubernetes)
	if t == nil || k == nil {
		return false, false
	}
	r := releaseOf(*t)
	if r == nil {
		return false, false
	}
	return k.Major == 1 && r.oldest <= k.Minor && k.Minor <= r.newest, true
}

// Etcd returns the version of etcd that comes with a version of Talos; empty if it
// is not known. A patch that is newer than the known ones has at least that of
// the newest known one.
func Etcd(talos string) string {
	t := parse(talos)
	if t == nil {
		return ""
	}
	r := releaseOf(*t)
	if r == nil {
		return ""
	}
	return r.etcdOf(t.Patch)
}

func (r *release) etcdOf(patch uint64) (version string) {
	first := uint64(0)
	for from, etcd := range r.etcd {
		if from <= patch && (version == "" || from >= first) {
			first, version = from, etcd
		}
	}
	return version
}

// newestPatch is the newest known version of the release.
func (r *release) newestPatch() semver.Version {
	return semver.Version{Major: 1, Minor: r.minor, Patch: r.patch}
}

// kubernetesOf is a version of a minor of Kubernetes of which every image exists:
// the default of the Talos that came with it, or else its first.
func kubernetesOf(minor uint64) semver.Version {
	for _, r := range releases {
		if v := semver.MustParse(r.kubernetes); v.Minor == minor {
			return v
		}
	}
	return semver.Version{Major: 1, Minor: minor}
}
