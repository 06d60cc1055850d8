// Package versions is the one table of the versions of Talos and Kubernetes that
// talosgen knows, and of the defaults that follow from it. Everything else reads
// it: options and their reference, checks, new repositories, simulators.
package versions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Release is a minor release of Talos 1, and what goes with it.
//
// Sources: pkg/machinery/compatibility for what it runs, pkg/machinery/constants at
// the tag of each patch for the rest.
type Release struct {
	Minor int // its second number
	// Talos is its newest patch that was known when this was written, such as
	// v1.14.1.
	Talos string
	// Kubernetes is what that patch installs by default, without a v.
	Kubernetes string
	// Oldest and Newest are the minor versions of Kubernetes 1 that it runs.
	Oldest, Newest int
	// Etcd is the version of etcd that it brings, by the first patch that does.
	Etcd map[uint64]string
}

// Contract is the version contract of the release, such as v1.14.
func (r Release) Contract() string { return fmt.Sprintf("v1.%d", r.Minor) }

// EtcdOf is the version of etcd that a patch of the release brings. One that is newer
// than the known ones has at least that of the newest known one.
func (r Release) EtcdOf(patch uint64) (version string) {
	first := uint64(0)
	for from, etcd := range r.Etcd {
		if from <= patch && (version == "" || from >= first) {
			first, version = from, etcd
		}
	}
	return version
}

// Start is the version of Kubernetes that a new cluster starts with: that of the
// newest release, up to this one, whose Kubernetes all addons of the catalogue have
// releases for.
func (r Release) Start() string {
	start := r.Kubernetes
	for _, older := range slices.Backward(history) {
		if older.Minor <= r.Minor {
			if start = older.Kubernetes; Minor(start) <= addonsNewest {
				break
			}
		}
	}
	return start
}

// addonsNewest is the newest minor version of Kubernetes 1 that the autoscaler,
// the last of the addons to follow, has a release for.
const addonsNewest = 36

// history are the releases that a cluster may be upgraded from, oldest first. A new
// Talos is a line here, and what CONTRIBUTING says about one.
var history = []Release{
	{8, "v1.8.4", "1.31.4", 26, 31, map[uint64]string{0: "3.5.16", 4: "3.5.17"}},
	{9, "v1.9.6", "1.32.4", 27, 32, map[uint64]string{0: "3.5.17", 3: "3.5.18", 5: "3.5.19", 6: "3.5.21"}},
	{10, "v1.10.9", "1.33.6", 28, 33, map[uint64]string{0: "3.5.21", 9: "3.5.26"}},
	{11, "v1.11.6", "1.34.1", 29, 34, map[uint64]string{0: "3.6.4", 3: "3.6.5"}},
	{12, "v1.12.11", "1.35.4", 30, 35, map[uint64]string{0: "3.6.7", 5: "3.6.8", 7: "3.6.9", 8: "3.6.11"}},
	{13, "v1.13.9", "1.36.3", 31, 36, map[uint64]string{0: "3.6.9", 1: "3.6.11", 4: "3.6.12"}},
	{14, "v1.14.1", "1.37.0", 32, 37, map[uint64]string{0: "3.7.1"}},
}

// releases are those whose contract configurations can follow.
var releases = history[1:]

// KubernetesKinds is the latest version of Kubernetes whose kinds are known, those
// of the k8s.io/api that is linked.
const KubernetesKinds = "1.37.0"

// Releases are the known releases, oldest first.
func Releases() []Release { return slices.Clone(releases) }

// History are the known releases, and before them those that are too old for
// configurations, and that clusters are still upgraded from.
func History() []Release { return slices.Clone(history) }

// Oldest is the oldest known release.
func Oldest() Release { return releases[0] }

// Newest is the newest known release: that of a new environment.
func Newest() Release { return releases[len(releases)-1] }

// Of returns the release of a version of Talos, such as v1.14.1 or v1.14. One that
// is newer than all known has the newest known; known is false for it and for one
// that is older, which has the oldest.
func Of(talos string) (r Release, known bool) {
	minor := Minor(talos)
	for _, r := range releases {
		if r.Minor == minor && isOne(talos) {
			return r, true
		}
	}
	if Newer(talos) {
		return Newest(), false
	}
	return Oldest(), false
}

// Newer reports whether a version of Talos 1 is of a release after all known ones.
func Newer(talos string) bool { return isOne(talos) && Minor(talos) > Newest().Minor }

func isOne(version string) bool { return strings.HasPrefix(strings.TrimPrefix(version, "v"), "1.") }

// Minor is the second number of a version, with or without a v; -1 if it has none,
// or one that is too large.
func Minor(version string) int {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return -1
	}
	m, err := strconv.Atoi(parts[1])
	if err != nil {
		return -1
	}
	return m
}

// Range says which releases are known: 1.9 to 1.14.
func Range() string { return fmt.Sprintf("1.%d to 1.%d", Oldest().Minor, Newest().Minor) }

// Fill puts versions into the tags of the options, which cannot hold what is
// computed: <talos>, <kubernetes> and <contract> are those of a new environment,
// <older contract> is the one before.
func Fill(tag string) string {
	if !strings.Contains(tag, "<") {
		return tag
	}
	newest := Newest()
	return strings.NewReplacer("<talos>", newest.Talos, "<kubernetes>", newest.Start(),
		"<contract>", newest.Contract(), "<older contract>", releases[len(releases)-2].Contract()).Replace(tag)
}
