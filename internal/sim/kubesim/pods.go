package kubesim

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// podController keeps pods behind the workloads of a cluster that was found. It does what the
// controllers of workloads, the scheduler, kubelets and the controller of budgets do,
// as far as it can be told without running anything.
type podController struct {
	found     map[types.UID]int64                      // the generations of what was found
	templates map[types.UID]*unstructured.Unstructured // a pod of each controller
	due       map[types.UID]time.Time                  // when pods are ready; absent: not as it is now
	made      int

	shown   map[Workload]Level // what was noted last
	changes []Change
	refused []Refusal
	nowhere map[string]string // pods that fit nowhere, and why
}

// remember keeps a pod, as what its controller makes others like.
func (k *podController) remember(pod *unstructured.Unstructured) {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		k.templates[owner.UID] = pod
	}
}

// keep does what is due, and notes how ready workloads are.
func (a *API) keep(c Cluster) {
	now := c.At
	if now.IsZero() {
		now = a.now()
	}
	for _, pod := range a.podsNow() {
		a.pods.remember(pod)
	}
	a.refill()
	nodes := a.nodesNow()
	for _, pod := range a.podsNow() {
		a.run(pod, nodes, now, c.Pods)
	}
	for _, o := range a.objects {
		if is(o, "PodDisruptionBudget") {
			a.budget(o)
		}
	}
	a.measure(now)
}

// podsNow are the pods that somebody has to see to.
func (a *API) podsNow() (pods []*unstructured.Unstructured) {
	for _, o := range a.objects {
		if is(o, "Pod") && !mirrored(o) && !ended(o) {
			pods = append(pods, o)
		}
	}
	return pods
}

// refill makes the pods that controllers miss.
func (a *API) refill() {
	for _, owner := range a.objects {
		template := a.pods.templates[owner.GetUID()]
		if template == nil || owner.GetDeletionTimestamp() != nil {
			continue
		}
		switch kindOf(owner) {
		case "ReplicaSet", "StatefulSet", "ReplicationController":
			for missing := a.wants(owner) - int64(len(a.podsOf(owner.GetUID()))); missing > 0; missing-- {
				a.another(owner, template, "")
			}
		case "DaemonSet":
			a.onEach(owner, template)
		}
	}
}

func kindOf(o *unstructured.Unstructured) string {
	kind, _ := o.Object["kind"].(string)
	return kind
}

// wants is how many pods a workload is to have.
func (a *API) wants(o *unstructured.Unstructured) int64 {
	if kindOf(o) == "DaemonSet" {
		return int64(len(a.podsOf(o.GetUID())))
	}
	want, found, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !found {
		return 1
	}
	return want
}

// podsOf are the pods of a controller.
func (a *API) podsOf(owner types.UID) (pods []*unstructured.Unstructured) {
	for _, pod := range a.podsNow() {
		if by := metav1.GetControllerOf(pod); by != nil && by.UID == owner {
			pods = append(pods, pod)
		}
	}
	return pods
}

// onEach makes the pods of a DaemonSet on nodes that have come.
func (a *API) onEach(owner, template *unstructured.Unstructured) {
	have := a.podsOf(owner.GetUID())
	for _, n := range a.nodesNow() {
		on := func(pod *unstructured.Unstructured) bool { return nodeOf(pod) == n.name }
		if _, known := a.pods.found[n.uid]; known || slices.ContainsFunc(have, on) || !n.admits(template, true) {
			continue // which nodes of before are meant was seen
		}
		a.another(owner, template, n.name)
	}
}

// another makes a pod like another one. On no node, it waits for one.
func (a *API) another(owner, template *unstructured.Unstructured, node string) {
	a.pods.made++
	pod := template.DeepCopy()
	for _, field := range [][]string{{"metadata", "uid"}, {"metadata", "resourceVersion"}, {"metadata", "creationTimestamp"}, {"metadata", "deletionTimestamp"}, {"spec", "nodeName"}, {"status"}} {
		unstructured.RemoveNestedField(pod.Object, field...)
	}
	pod.SetName(a.newName(owner))
	pod.Object["status"] = object{"phase": "Pending"}
	if node != "" {
		_ = unstructured.SetNestedField(pod.Object, node, "spec", "nodeName")
	}
	a.store(pod)
}

// newName is a name as controllers give them.
func (a *API) newName(owner *unstructured.Unstructured) string {
	if kindOf(owner) != "StatefulSet" {
		return fmt.Sprintf("%s-new%d", owner.GetName(), a.pods.made)
	}
	for i := 0; ; i++ {
		if name := fmt.Sprintf("%s-%d", owner.GetName(), i); a.index("Pod", owner.GetNamespace(), name) < 0 {
			return name
		}
	}
}

// run is what becomes of a pod on its node, or of one that waits for a node.
func (a *API) run(pod *unstructured.Unstructured, nodes []*node, now time.Time, starts time.Duration) {
	name := nodeOf(pod)
	if name == "" {
		n, why := choose(pod, nodes)
		if n == nil {
			a.waits(pod, why)
			return
		}
		placed := pod.DeepCopy()
		_ = unstructured.SetNestedField(placed.Object, n.name, "spec", "nodeName")
		n.take(placed)
		pod = a.store(placed)
		a.pods.due[pod.GetUID()] = now.Add(starts)
	}
	i := slices.IndexFunc(nodes, func(n *node) bool { return n.name == nodeOf(pod) })
	due, starting := a.pods.due[pod.GetUID()]
	switch {
	case i < 0 || !nodes[i].ready:
		delete(a.pods.due, pod.GetUID())
		a.say(pod, "False")
	case !starting && a.asFound(pod) && a.pods.never(pod):
		// It was not ready when it was found, for whatever reason.
	case !starting:
		a.pods.due[pod.GetUID()] = now.Add(starts)
	case now.Before(due):
		a.say(pod, "False")
	default:
		a.say(pod, "True")
	}
}

// never reports whether a pod that was found has not been ready since.
func (k *podController) never(pod *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	return !readyPod(pod) && phase != "" && pod.GetAnnotations()[wasReady] == ""
}

// wasReady marks pods that have been ready here.
const wasReady = "kubesim/was-ready"

// say sets whether a pod is ready.
func (a *API) say(pod *unstructured.Unstructured, ready string) {
	if readyPod(pod) == (ready == "True") && pod.GetAnnotations()[wasReady] != "" {
		return
	}
	if readyPod(pod) != (ready == "True") || ready == "True" {
		next := pod.DeepCopy()
		marks := next.GetAnnotations()
		if marks == nil {
			marks = map[string]string{}
		}
		marks[wasReady] = "true"
		next.SetAnnotations(marks)
		status, _ := next.Object["status"].(object)
		if status == nil {
			status = object{}
		}
		status["phase"] = "Running"
		status["conditions"] = []any{condition("Ready", ready, "", ""), condition("PodScheduled", "True", "", "")}
		next.Object["status"] = status
		a.store(next)
	}
}

// waits notes that a pod fits nowhere.
func (a *API) waits(pod *unstructured.Unstructured, why string) {
	if a.pods.nowhere == nil {
		a.pods.nowhere = map[string]string{}
	}
	a.pods.nowhere[pod.GetNamespace()+"/"+pod.GetName()] = why
	a.setStatus(pod, object{"phase": "Pending", "conditions": []any{condition("PodScheduled", "False", "Unschedulable", why)}})
}
