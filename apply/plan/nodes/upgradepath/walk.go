package upgradepath

import (
	"fmt"

	"github.com/blang/semver/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// at is a state on the way.
type at struct{ talos, kubernetes semver.Version }

// key stands for a state in a map: versions hold slices.
func (a at) key() string { return a.talos.String() + " " + a.kubernetes.String() }

// walk looks for a way: deep first, Talos before Kubernetes. Both only grow, and
// the ranges that releases support grow with them, so it is found without turning
// back where there is one; dead ends are remembered all the same.
type walk struct {
	start, goal at
	dead        map[string]bool
}

// from returns the hops from a state to the goal.
func (w *walk) from(a at) (hops []Hop, found bool) {
	if a.talos.EQ(w.goal.talos) && a.kubernetes.EQ(w.goal.kubernetes) {
		return nil, true
	}
	if w.dead[a.key()] {
		return nil, false
	}
	for _, try := range []func(at) ([]Hop, at, bool){w.moveTalos, w.moveKubernetes} {
		step, next, possible := try(a)
		if !possible || !supported(next) {
			continue
		}
		if rest, found := w.from(next); found {
			return append(step, rest...), true
		}
	}
	w.dead[a.key()] = true
	return nil, false
}

// supported reports whether a state may be on the way. Of a Talos that is newer
// than the known ones nobody here knows better.
func supported(a at) bool {
	ok, known := Supports(a.talos.String(), a.kubernetes.String())
	return ok || !known
}

// moveTalos moves Talos to the next minor, or to the patch that is the goal. Before
// a minor with another etcd it may take a patch first.
func (w *walk) moveTalos(a at) (hops []Hop, next at, possible bool) {
	from := a.talos
	if from.EQ(w.goal.talos) {
		return nil, a, false
	}
	if from.Minor == w.goal.talos.Minor {
		return []Hop{{Component: Talos, From: from.String(), To: w.goal.talos.String()}}, at{w.goal.talos, a.kubernetes}, true
	}
	to, reason, possible := w.nextTalos(from.Minor + 1)
	if !possible {
		return nil, a, false
	}
	if first := patchFirst(from, to); first != nil {
		hops = append(hops, Hop{Component: Talos, From: from.String(), To: first.String(),
			Reason: fmt.Sprintf("members of etcd must be %s or newer before one of %s joins", floors[parse(Etcd(to.String())).Minor], Etcd(to.String()))})
		from = *first
	}
	hop := Hop{Component: Talos, From: from.String(), To: to.String(), Reason: reason}
	if before, after := parse(Etcd(from.String())), parse(Etcd(to.String())); before != nil && after != nil && before.Minor != after.Minor {
		hop.Etcd = after.String()
	}
	return append(hops, hop), at{to, a.kubernetes}, true
}

// nextTalos is the version of a minor that is on the way.
func (w *walk) nextTalos(minor uint64) (to semver.Version, reason string, known bool) {
	if minor == w.goal.talos.Minor {
		if releaseOf(w.goal.talos) == nil {
			reason = "this talosgen does not know what it supports"
		}
		return w.goal.talos, reason, true
	}
	r := releaseOf(semver.Version{Major: 1, Minor: minor})
	if r == nil {
		return to, "", false
	}
	return r.newestPatch(), "Talos is upgraded one minor at a time", true
}

// patchFirst is the patch of the same minor that all nodes must have before they
// move to another version of Talos; nil if they may go at once.
func patchFirst(from, to semver.Version) *semver.Version {
	r, etcd, next := releaseOf(from), parse(Etcd(from.String())), parse(Etcd(to.String()))
	if r == nil || etcd == nil || next == nil || etcd.Minor == next.Minor {
		return nil
	}
	floor := parse(floors[next.Minor])
	if floor == nil || etcd.GE(*floor) {
		return nil
	}
	patch := r.newestPatch()
	return &patch
}

// moveKubernetes moves Kubernetes to the next minor, or to the patch that is the
// goal.
func (w *walk) moveKubernetes(a at) (hops []Hop, next at, possible bool) {
	from, to := a.kubernetes, w.goal.kubernetes
	if from.EQ(to) {
		return nil, a, false
	}
	hop := Hop{Component: Kubernetes, From: from.String()}
	if from.Minor+1 < to.Minor {
		to, hop.Reason = kubernetesOf(from.Minor+1), "Kubernetes is upgraded one minor at a time"
	}
	hop.To = to.String()
	return []Hop{hop}, at{a.talos, to}, true
}

// tooOld reports whether Talos has to move, and is older than the known releases.
func (w *walk) tooOld() bool {
	return w.start.talos.NE(w.goal.talos) && w.start.talos.LT(semver.Version{Major: 1, Minor: releases[0].minor})
}

// none says why there is no way.
func (w *walk) none() error {
	talos, kubernetes := w.goal.talos.String(), w.goal.kubernetes.String()
	r := releaseOf(w.goal.talos)
	switch {
	case r != nil && !supported(w.goal):
		return diag.On("kubernetes", "Talos v%s does not support Kubernetes %s", talos, kubernetes).
			WithHint("Talos 1.%d supports Kubernetes 1.%d to 1.%d", r.minor, r.oldest, r.newest)
	case w.tooOld():
		return diag.On("talos", "the cluster runs Talos v%s, and no way from there is known", w.start.talos).
			WithHint("upgrade it by hand to Talos 1.%d first, one minor at a time", releases[0].minor)
	}
	return diag.On("talos", "no way from Talos v%s with Kubernetes %s to Talos v%s with Kubernetes %s is known on which each state is supported",
		w.start.talos, w.start.kubernetes, talos, kubernetes).WithHint("perhaps a newer release knows one")
}
