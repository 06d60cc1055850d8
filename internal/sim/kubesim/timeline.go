package kubesim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/talosgen/talosgen/internal/sorting"
)

// Workload is what wants pods: a Deployment, a StatefulSet, a DaemonSet, a ReplicaSet
// or a Pod of its own.
type Workload struct{ Kind, Namespace, Name string }

// Level is how many pods of a workload are ready, of how many that it wants.
type Level struct{ Ready, Wants int64 }

// Change is a new level of a workload.
type Change struct {
	Workload
	Level

	At time.Time
}

// Refusal is an eviction that a budget did not allow.
type Refusal struct {
	Namespace, Budget, Pod string
	At                     time.Time
}

// Timeline is what was seen of the pods of a cluster since [API.Load].
type Timeline struct {
	Changes []Change
	Refused []Refusal
	// Why a pod, namespace/name, was on no node for a while.
	Nowhere map[string]string
}

// Timeline returns what was seen. The first change of a workload is how it was found.
func (a *API) Timeline() Timeline {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pods == nil {
		return Timeline{}
	}
	return Timeline{slices.Clone(a.pods.changes), slices.Clone(a.pods.refused), maps.Clone(a.pods.nowhere)}
}

// Due returns when the next pod is ready; zero: none is awaited.
func (a *API) Due() (next time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pods == nil {
		return next
	}
	for _, pod := range a.podsNow() {
		due, starting := a.pods.due[pod.GetUID()]
		if starting && !due.IsZero() && !readyPod(pod) && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// measure notes what has changed of the levels of workloads.
func (a *API) measure(now time.Time) {
	levels := map[Workload]Level{}
	tops := map[types.UID]*unstructured.Unstructured{}
	for _, o := range a.objects {
		tops[o.GetUID()] = o
	}
	for uid := range a.pods.templates { // also those that have no pod now
		if owner := tops[uid]; owner != nil && kindOf(owner) != "Job" && kindOf(owner) != "Node" && a.wants(owner) > 0 {
			l := levels[a.top(owner, tops)]
			l.Wants += a.wants(owner)
			levels[a.top(owner, tops)] = l
		}
	}
	for _, pod := range a.podsNow() {
		w := a.top(pod, tops)
		if w.Kind == "Job" || w.Kind == "Node" {
			continue
		}
		l := levels[w]
		if w.Kind == "Pod" {
			l.Wants = 1
		}
		if readyPod(pod) {
			l.Ready++
		}
		levels[w] = l
	}
	for w := range a.pods.shown {
		if _, still := levels[w]; !still {
			levels[w] = Level{} // it is gone
		}
	}
	all := slices.Collect(maps.Keys(levels))
	sorting.By(all, compareWorkloads)
	for _, w := range all {
		if before, known := a.pods.shown[w]; !known || before != levels[w] {
			a.pods.shown[w] = levels[w]
			a.pods.changes = append(a.pods.changes, Change{w, levels[w], now})
		}
	}
}

func compareWorkloads(a, b Workload) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// top is who wants a pod in the end.
func (a *API) top(o *unstructured.Unstructured, all map[types.UID]*unstructured.Unstructured) Workload {
	for range 5 {
		owner := metav1.GetControllerOf(o)
		if owner == nil || all[owner.UID] == nil {
			break
		}
		switch owner.Kind {
		case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "Node":
		default: // of an operator: what it makes of that is not known
			return Workload{kindOf(o), o.GetNamespace(), o.GetName()}
		}
		o = all[owner.UID]
	}
	return Workload{kindOf(o), o.GetNamespace(), o.GetName()}
}

// budget brings the status of a budget up to date.
func (a *API) budget(o *unstructured.Unstructured) {
	var b policyv1.PodDisruptionBudget
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &b); err != nil {
		return // it allows what it said last
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return
	}
	healthy, expected := 0, 0
	owners := map[types.UID]bool{}
	for _, pod := range a.podsNow() {
		if pod.GetNamespace() != o.GetNamespace() || !selector.Matches(labels.Set(pod.GetLabels())) {
			continue
		}
		if readyPod(pod) {
			healthy++
		}
		owner := metav1.GetControllerOf(pod)
		switch i := -1; {
		case owner == nil:
			expected++
		case owners[owner.UID]:
		default:
			owners[owner.UID] = true
			if i = a.index(owner.Kind, pod.GetNamespace(), owner.Name); i >= 0 {
				expected += int(a.wants(a.objects[i]))
			}
		}
	}
	needs := expected
	if b.Spec.MinAvailable != nil {
		needs, _ = intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, expected, true)
	} else if b.Spec.MaxUnavailable != nil {
		most, _ := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, expected, true)
		needs = max(0, expected-most)
	}
	a.setStatus(o, object{
		"observedGeneration": o.GetGeneration(), "currentHealthy": int64(healthy), "desiredHealthy": int64(needs),
		"expectedPods": int64(expected), "disruptionsAllowed": int64(max(0, healthy-needs)),
	})
}
