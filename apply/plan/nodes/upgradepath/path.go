// Package upgradepath says through which versions of Talos and Kubernetes a
// cluster gets from what it runs to what Git has: one minor at a time, each state
// on the way supported, and etcd never mixed with a version that it does not
// survive.
//
// It is about versions only: whether a cluster is well enough for a hop is asked
// where its nodes are seen.
package upgradepath

import (
	"fmt"

	"github.com/blang/semver/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
)

// Component is what a hop moves.
type Component string

// The components.
const (
	Talos      Component = "talos"
	Kubernetes Component = "kubernetes"
)

// State is what a cluster runs, or is to run, as v1.14.1 and 1.37.0, with or
// without a v. Of a cluster that is between two versions, it is the older one.
type State struct {
	Talos      string `json:"talos"`
	Kubernetes string `json:"kubernetes"`
}

// Hop is one move of all nodes from a version to another. The next hop begins
// when every node has made this one.
type Hop struct {
	Component Component `json:"component"`
	From      string    `json:"from"` // without a v
	To        string    `json:"to"`
	// The version of etcd that comes with this Talos, if it is of another minor:
	// there is no way back once the last control plane runs it.
	Etcd string `json:"etcd,omitempty"`
	// Why it is on the way, if Git does not name its version.
	Reason string `json:"reason,omitempty"`
}

// String prints talos v1.13.9, or kubernetes 1.36.3.
func (h Hop) String() string { return fmt.Sprintf("%s %s", h.Component, Spelled(h.Component, h.To)) }

// Spelled is a version as people know it: Talos' begin with a v.
func Spelled(c Component, version string) string {
	if c == Talos {
		return "v" + version
	}
	return version
}

// Path returns the hops from one state to another; none if both are the same. It
// fails if a version cannot be read, goes back by a minor, or if there is no way
// on which each state is supported.
func Path(now, want State) ([]Hop, error) {
	w := &walk{dead: map[string]bool{}}
	var problems diag.List
	for _, v := range []struct {
		of   string
		text string
		to   *semver.Version
	}{
		{"talos", now.Talos, &w.start.talos}, {"kubernetes", now.Kubernetes, &w.start.kubernetes},
		{"talos", want.Talos, &w.goal.talos}, {"kubernetes", want.Kubernetes, &w.goal.kubernetes},
	} {
		if parsed := parse(v.text); parsed != nil {
			*v.to = *parsed
		} else {
			problems.Add(diag.On(v.of, "%q is not a version", v.text).WithHint("a version is three numbers with dots, as %s", versions.Newest().Kubernetes))
		}
	}
	problems.Add(back(Talos, w.start.talos, w.goal.talos), back(Kubernetes, w.start.kubernetes, w.goal.kubernetes))
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if hops, found := w.from(w.start); found && !w.tooOld() {
		return hops, nil
	}
	return nil, w.none()
}

// parse reads a version; nil if it is none.
func parse(text string) *semver.Version {
	v, err := semver.ParseTolerant(text)
	if err != nil {
		return nil
	}
	return &v
}

// back refuses to go back by a minor; nil if it does not.
func back(c Component, now, want semver.Version) *diag.Problem {
	if now.Major == want.Major && now.Minor <= want.Minor {
		return nil
	}
	if now.Major != want.Major {
		return diag.On(string(c), "there is no way from %s to %s", Spelled(c, now.String()), Spelled(c, want.String()))
	}
	return diag.On(string(c), "the cluster runs %s, and Git has the older %s", Spelled(c, now.String()), Spelled(c, want.String())).
		WithHint("a minor version does not go back: set the version in cluster.env to the one that runs, or restore a snapshot of etcd into a new cluster")
}

// Newer reports whether a version is newer than another. A text that is no version is
// neither.
func Newer(a, than string) bool {
	if a == than {
		return false // as most are
	}
	x, y := parse(a), parse(than)
	return x != nil && y != nil && x.GT(*y)
}

// Older is the older of two versions, as it is spelt. A text that is no version does not
// count.
func Older(a, b string) string {
	if a == b || parse(b) == nil || parse(a) != nil && !Newer(a, b) {
		return a
	}
	return b
}

// Newest is the newer of two versions, in the same way.
func Newest(a, b string) string {
	if a == b || parse(b) == nil || parse(a) != nil && !Newer(b, a) {
		return a
	}
	return b
}

// SameMinor reports whether two versions are patches of one minor. Texts that are no
// versions are of none.
func SameMinor(a, b string) bool {
	x, y := parse(a), parse(b)
	return x != nil && y != nil && x.Major == y.Major && x.Minor == y.Minor
}
