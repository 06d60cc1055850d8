package upgradepath

import (
	"slices"

	"github.com/blang/semver/v4"

	"github.com/talosgen/talosgen/internal/versions"
)

// release is a minor release of Talos, with versions as they are compared here.
type release struct {
	minor      uint64
	patch      uint64 // the newest known one
	kubernetes string // its default
	// The minors of Kubernetes that it supports.
	oldest, newest uint64
	// The version of etcd that a patch brings.
	etcdOf func(patch uint64) string
}

// releases are those of Talos 1, from the oldest on.
var releases = known(versions.History())

func known(table []versions.Release) (all []release) {
	for _, r := range table {
		all = append(all, release{
			minor: uint64(r.Minor), patch: semver.MustParse(r.Talos[1:]).Patch, kubernetes: r.Kubernetes,
			oldest: uint64(r.Oldest), newest: uint64(r.Newest), etcdOf: r.EtcdOf,
		})
	}
	return all
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

// Floor returns the version that a member of etcd must have before one of another
// version joins; empty if it may stay as it is.
func Floor(member, joins string) string {
	m, j := parse(member), parse(joins)
	if m == nil || j == nil || m.Minor >= j.Minor {
		return ""
	}
	if floor := floors[j.Minor]; floor != "" && m.LT(semver.MustParse(floor)) {
		return floor
	}
	return ""
}
