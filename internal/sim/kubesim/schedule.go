package kubesim

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/talosgen/talosgen/internal/sorting"
)

// node is a node as a scheduler sees it.
type node struct {
	name, zone string
	uid        types.UID
	ready      bool
	cordoned   bool
	labels     labels.Set
	taints     []corev1.Taint
	// What pods may ask for, and have; nil: the node does not say.
	allocatable corev1.ResourceList
	used        corev1.ResourceList
	pods        []*unstructured.Unstructured
}

func nodeOf(pod *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	return name
}

// nodesNow are the nodes, with the pods on them.
func (a *API) nodesNow() (nodes []*node) {
	for _, o := range a.objects {
		if !is(o, "Node") {
			continue
		}
		var typed corev1.Node
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &typed); err != nil {
			continue // it says nothing that can be used
		}
		n := &node{name: typed.Name, zone: typed.Labels[corev1.LabelTopologyZone], uid: typed.UID, cordoned: typed.Spec.Unschedulable, labels: typed.Labels,
			taints: typed.Spec.Taints, allocatable: typed.Status.Allocatable, used: corev1.ResourceList{}}
		for _, c := range typed.Status.Conditions {
			n.ready = n.ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
		nodes = append(nodes, n)
	}
	for _, pod := range a.podsNow() {
		if i := slices.IndexFunc(nodes, func(n *node) bool { return n.name == nodeOf(pod) }); i >= 0 {
			nodes[i].take(pod)
		}
	}
	return nodes
}

// take counts a pod on the node.
func (n *node) take(pod *unstructured.Unstructured) {
	n.pods = append(n.pods, pod)
	for name, asked := range requests(pod) {
		sum := n.used[name]
		sum.Add(asked)
		n.used[name] = sum
	}
}

// requests are what the containers of a pod ask for, and one place.
func requests(pod *unstructured.Unstructured) corev1.ResourceList {
	sum := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	for _, c := range specOf(pod).Containers {
		for name, asked := range c.Resources.Requests {
			all := sum[name]
			all.Add(asked)
			sum[name] = all
		}
	}
	return sum
}

func specOf(pod *unstructured.Unstructured) (spec corev1.PodSpec) {
	var typed corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pod.Object, &typed); err != nil {
		return spec // it asks for nothing that can be read
	}
	return typed.Spec
}

// choose finds the node of a pod, the one with the fewest pods of those that fit; or
// says why there is none.
func choose(pod *unstructured.Unstructured, nodes []*node) (best *node, why string) {
	count := map[string]int{}
	for _, n := range nodes {
		if reason := n.refuses(pod); reason != "" {
			count[reason]++
			continue
		}
		if best == nil || len(n.pods) < len(best.pods) {
			best = n
		}
	}
	if best != nil {
		return best, ""
	}
	return nil, reasons(count, len(nodes))
}

// reasons are those of all nodes, most of them first.
func reasons(count map[string]int, nodes int) string {
	var all []string
	for reason := range count {
		all = append(all, reason)
	}
	sorting.By(all, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	text := fmt.Sprintf("0/%d nodes are available", nodes)
	for i, reason := range all {
		text += fmt.Sprintf("%s%d %s", []string{": ", ", "}[min(i, 1)], count[reason], reason)
	}
	return text
}

// refuses says why a pod cannot be on the node; empty: it can.
func (n *node) refuses(pod *unstructured.Unstructured) string {
	switch {
	case !n.ready:
		return "not ready"
	case n.cordoned:
		return "cordoned"
	case !n.admits(pod, false):
		return "not meant for it"
	case n.repels(pod):
		return "with a pod that it must not be beside"
	}
	for name, asked := range requests(pod) {
		limit, known := n.allocatable[name]
		if sum := n.used[name]; known {
			if sum.Add(asked); sum.Cmp(limit) > 0 {
				return "without enough " + string(name)
			}
		}
	}
	return ""
}

// admits reports whether a pod is meant for the node, by labels and taints. Pods of
// DaemonSets tolerate what keeps others from a node for a while.
func (n *node) admits(pod *unstructured.Unstructured, daemon bool) bool {
	spec := specOf(pod)
	if !labels.SelectorFromSet(spec.NodeSelector).Matches(n.labels) {
		return false
	}
	if !daemon && spec.Affinity != nil && spec.Affinity.NodeAffinity != nil && !n.wanted(spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution) {
		return false
	}
	return !slices.ContainsFunc(n.taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(spec.Tolerations, func(o corev1.Toleration) bool { return tolerates(o, t) })
	})
}

func tolerates(o corev1.Toleration, t corev1.Taint) bool {
	return (o.Effect == "" || o.Effect == t.Effect) && (o.Key == "" && o.Operator == corev1.TolerationOpExists || o.Key == t.Key) &&
		(o.Operator == corev1.TolerationOpExists || o.Value == t.Value)
}

// wanted reports whether one of several terms is about the node.
func (n *node) wanted(s *corev1.NodeSelector) bool {
	return s == nil || slices.ContainsFunc(s.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return !n.has(r) })
	})
}

// has reports whether labels are as an expression wants them. Those that compare numbers
// are taken for true.
func (n *node) has(r corev1.NodeSelectorRequirement) bool {
	value, found := n.labels[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return found && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return found
	case corev1.NodeSelectorOpDoesNotExist:
		return !found
	}
	return true
}

// repels reports whether a pod must not be beside one that is there.
func (n *node) repels(pod *unstructured.Unstructured) bool {
	affinity := specOf(pod).Affinity
	if affinity == nil || affinity.PodAntiAffinity == nil {
		return false
	}
	return slices.ContainsFunc(affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
		selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
		return err == nil && t.TopologyKey == corev1.LabelHostname && slices.ContainsFunc(n.pods, func(other *unstructured.Unstructured) bool {
			return other.GetNamespace() == pod.GetNamespace() && selector.Matches(labels.Set(other.GetLabels()))
		})
	})
}
