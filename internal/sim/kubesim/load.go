package kubesim

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Load puts the objects of a living cluster into an API that has none of its own yet.
// From then on there are pods behind its workloads: what is evicted is made anew where
// it fits, what runs on a node that is away is not ready, and budgets count what is.
// What workloads say of themselves is as it was found until that changes.
func (a *API) Load(objects []map[string]any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pods = &podController{
		found: map[types.UID]int64{}, templates: map[types.UID]*unstructured.Unstructured{}, due: map[types.UID]time.Time{},
		shown: map[Workload]Level{},
	}
	for _, object := range objects {
		o := (&unstructured.Unstructured{Object: object}).DeepCopy()
		a.store(o)
		a.pods.found[o.GetUID()] = o.GetGeneration()
		a.controllers.since[o.GetUID()] = seen{generation: o.GetGeneration()} // for ages
	}
	for _, o := range a.objects {
		if is(o, "Pod") && !mirrored(o) {
			a.pods.remember(o)
			if readyPod(o) {
				a.pods.due[o.GetUID()] = time.Time{} // long ago
			}
		}
	}
}

// asFound reports whether what is wanted of an object is what it was when it was found.
func (a *API) asFound(o *unstructured.Unstructured) bool {
	if a.pods == nil {
		return false
	}
	generation, found := a.pods.found[o.GetUID()]
	return found && generation == o.GetGeneration()
}

func is(o *unstructured.Unstructured, kind string) bool {
	have, _ := o.Object["kind"].(string)
	return have == kind
}

// mirrored reports whether a pod only shows what a kubelet runs by itself.
func mirrored(pod *unstructured.Unstructured) bool {
	return pod.GetAnnotations()["kubernetes.io/config.mirror"] != ""
}

// readyPod reports whether a pod says that it is ready.
func readyPod(pod *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(pod.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, _ := c.(object); condition["type"] == "Ready" {
			return condition["status"] == "True"
		}
	}
	return false
}

// ended reports whether a pod has done what it was for.
func ended(pod *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	return phase == "Succeeded" || phase == "Failed"
}
