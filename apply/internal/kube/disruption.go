package kube

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Disruption is what pods suffer when their nodes are drained or reboot.
type Disruption struct {
	Budgets []Budget
	// Lone are pods by their nodes that run nowhere else meanwhile, with their
	// namespaces: nothing makes them anew, or they are bound to the node.
	Lone map[string][]string
}

// Budget is a PodDisruptionBudget.
type Budget struct {
	Name  string   // with its namespace
	Nodes []string // that its pods run on
	// Allowed is how many of its pods may go now. Stuck says that none may ever go,
	// also when all of them are healthy.
	Allowed int
	Stuck   bool
}

var (
	budgets = resource{policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), true}
	volumes = resource{corev1.SchemeGroupVersion.WithResource("persistentvolumes"), false}
)

// Disruption looks at all pods, at their budgets and at the volumes that are bound to
// nodes: a list of each.
func (c *Client) Disruption(ctx context.Context) (d Disruption, err error) {
	all, err := listAs[corev1.Pod](ctx, c.in(pods, ""), metav1.ListOptions{})
	if err != nil {
		return d, err
	}
	limits, err := listAs[policyv1.PodDisruptionBudget](ctx, c.in(budgets, ""), metav1.ListOptions{})
	if err != nil {
		return d, err
	}
	disks, err := listAs[corev1.PersistentVolume](ctx, c.in(volumes, ""), metav1.ListOptions{})
	if err != nil {
		return d, err
	}
	d.Lone = lonely(all, bound(disks))
	d.Budgets = budgetsOf(limits, slices.DeleteFunc(all, func(p corev1.Pod) bool { return p.Spec.NodeName == "" || stays(p, false) }))
	return d, nil
}

// bound are the claims, with their namespaces, of volumes that only one node has.
func bound(disks []corev1.PersistentVolume) map[string]bool {
	claims := map[string]bool{}
	for _, v := range disks {
		if claim := v.Spec.ClaimRef; claim != nil && ofOneNode(v.Spec) {
			claims[claim.Namespace+"/"+claim.Name] = true
		}
	}
	return claims
}

// ofOneNode reports whether a volume is on a disk of a node.
func ofOneNode(v corev1.PersistentVolumeSpec) bool {
	if v.Local != nil || v.HostPath != nil {
		return true
	}
	if v.NodeAffinity == nil || v.NodeAffinity.Required == nil {
		return false
	}
	return slices.ContainsFunc(v.NodeAffinity.Required.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return e.Key == corev1.LabelHostname && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1
		})
	})
}

// lonely are the pods by their nodes that end with them, and start nowhere else.
func lonely(all []corev1.Pod, bound map[string]bool) map[string][]string {
	lone := map[string][]string{}
	for _, p := range all {
		if p.Spec.NodeName != "" && alone(p, bound) {
			lone[p.Spec.NodeName] = append(lone[p.Spec.NodeName], p.Namespace+"/"+p.Name)
		}
	}
	for _, names := range lone {
		slices.Sort(names)
	}
	return lone
}

func alone(p corev1.Pod, bound map[string]bool) bool {
	if stays(p, true) {
		return false
	}
	return metav1.GetControllerOf(&p) == nil || p.Spec.NodeSelector[corev1.LabelHostname] != "" ||
		slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && bound[p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName]
		})
}

// budgetsOf are the budgets of pods that are asked to leave. The API evicts no pod
// that two budgets are about: such budgets are stuck too.
func budgetsOf(limits []policyv1.PodDisruptionBudget, running []corev1.Pod) (all []Budget) {
	first := map[string]int{} // by pod
	for _, limit := range limits {
		s := limit.Status
		b := Budget{Name: limit.Namespace + "/" + limit.Name, Allowed: int(s.DisruptionsAllowed), Stuck: s.ExpectedPods > 0 && s.DesiredHealthy >= s.ExpectedPods}
		for _, p := range running {
			if !covers(limit, p) {
				continue
			}
			name := p.Namespace + "/" + p.Name
			if i, covered := first[name]; covered {
				b.Stuck, all[i].Stuck = true, true
			} else {
				first[name] = len(all)
			}
			if !slices.Contains(b.Nodes, p.Spec.NodeName) {
				b.Nodes = append(b.Nodes, p.Spec.NodeName)
			}
		}
		slices.Sort(b.Nodes)
		all = append(all, b)
	}
	return slices.DeleteFunc(all, func(b Budget) bool { return len(b.Nodes) == 0 })
}

// covers reports whether a budget is about a pod.
func covers(limit policyv1.PodDisruptionBudget, p corev1.Pod) bool {
	if limit.Namespace != p.Namespace {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(limit.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(p.Labels))
}

// spared are the budgets of some names. Nobody asks their pods to leave: they end with
// their node, and start with it again.
func (d drainer) spared(ctx context.Context) (all []policyv1.PodDisruptionBudget, err error) {
	if len(d.Over) == 0 {
		return nil, nil
	}
	limits, err := listAs[policyv1.PodDisruptionBudget](ctx, d.client.in(budgets, ""), metav1.ListOptions{})
	for _, limit := range limits {
		if slices.Contains(d.Over, strings.Join([]string{limit.Namespace, limit.Name}, "/")) {
			all = append(all, limit)
		}
	}
	return all, err
}
