package kube

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
)

// DrainOptions say how a node is drained.
type DrainOptions struct {
	// How long pods may take to leave.
	Within time.Duration
	// The node does not come back: pods that nothing makes anew leave too. They
	// stay on a node that reboots, and start again with it.
	ForGood bool
	// Over names budgets, with their namespaces, whose pods are not asked to leave:
	// somebody has agreed that they end with their node.
	Over []string
	// Is told what is waited for, whenever that changes; may be nil.
	Notify func(string)
}

// Drain keeps new pods away from a node, and asks those that run there to leave,
// by the rules of kubectl: those of DaemonSets and static ones stay, what is in
// an emptyDir is lost, and a PodDisruptionBudget is respected for as long as the
// options allow. The node stays cordoned, also after an error.
//
// A node that Kubernetes does not know has nothing to drain; an API that does
// not answer is an error.
func (c *Client) Drain(ctx context.Context, name string, o DrainOptions) error {
	return drainer{c, name, o}.drain(ctx)
}

// drainer drains a node.
type drainer struct {
	client *Client
	node   string
	DrainOptions
}

// drain asks the pods to leave until they have left.
func (d drainer) drain(ctx context.Context) error {
	known, err := d.cordon(ctx)
	if err != nil || !known {
		return err
	}
	wait, reported := d.client.waitFor(d.Within), ""
	spared, err := d.spared(ctx)
	if err != nil {
		return err
	}
	for {
		left, err := d.evictAll(ctx, spared)
		if err != nil || len(left) == 0 {
			return err
		}
		text := describe(left)
		if text != reported && d.Notify != nil {
			d.Notify("waits: " + text)
		}
		reported = text
		if wait.over() {
			return diag.On("node "+d.node, "not drained within %v: %s", d.Within, text).WithCode(diag.NotReady).
				WithHint("it stays cordoned: let the pods go, by more replicas or another PodDisruptionBudget, and run the same command again;\nor give it up with kubectl uncordon")
		}
		if err := wait.pause(ctx); err != nil {
			return err
		}
	}
}

// cordon keeps new pods away from the node. It reports whether Kubernetes knows
// it.
func (d drainer) cordon(ctx context.Context) (known bool, err error) {
	n, err := d.client.in(nodes, "").get(ctx, d.node)
	if absent(err) {
		return false, nil
	}
	if err != nil || kubeplan.Object(n).Value("spec", "unschedulable") == true {
		return true, err
	}
	return patchNode(ctx, d.client, d.node, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{drained: "true"}},
		"spec":     map[string]any{"unschedulable": true},
	})
}

var pods = resource{corev1.SchemeGroupVersion.WithResource("pods"), true}

// leaving is a pod that has not left yet.
type leaving struct {
	pod string // namespace/name
	why string // what keeps it; empty: it is on its way
}

// evictAll asks every pod to leave that is not on its way yet, and returns those
// that are still there.
func (d drainer) evictAll(ctx context.Context, spared []policyv1.PodDisruptionBudget) (left []leaving, err error) {
	running, err := listAs[corev1.Pod](ctx, d.client.in(pods, ""), metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", d.node).String()})
	if err != nil {
		return nil, err
	}
	for _, p := range running {
		if stays(p, d.ForGood) || slices.ContainsFunc(spared, func(b policyv1.PodDisruptionBudget) bool { return covers(b, p) }) {
			continue
		}
		l := leaving{pod: p.Namespace + "/" + p.Name}
		if p.DeletionTimestamp == nil {
			gone, why, err := d.evict(ctx, p)
			if err != nil {
				return nil, err
			}
			if gone {
				continue
			}
			l.why = why
		}
		left = append(left, l)
	}
	return left, nil
}

// stays reports whether a pod is not asked to leave.
func stays(p corev1.Pod, forGood bool) bool {
	owner := metav1.GetControllerOf(&p)
	switch {
	case p.Annotations[corev1.MirrorPodAnnotationKey] != "": // a static pod
		return true
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed: // it runs no more
		return true
	case owner == nil:
		return !forGood
	}
	return owner.Kind == "DaemonSet"
}

// evict asks a pod to leave. It is gone already, or is on its way, or something
// keeps it for the time being, and why says what.
func (d drainer) evict(ctx context.Context, p corev1.Pod) (gone bool, why string, err error) {
	eviction, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(p.UID))},
	})
	if err != nil {
		return false, "", err
	}
	// Not by what repeats requests: that a budget is in the way is no reason to
	// let the other pods wait.
	_, err = d.client.atOnce(pods, p.Namespace).create(ctx, &unstructured.Unstructured{Object: eviction}, "eviction")
	r, again := refused(err), Unavailable(err)
	switch {
	case err == nil:
		return false, "", nil
	case r != nil && (r.status == http.StatusNotFound || r.status == http.StatusConflict): // or another pod has its name
		return true, "", nil
	case r != nil && r.caused(namespaceTerminating):
		return false, "its namespace is being deleted", nil
	case r != nil && again:
		return false, blockedBy(r), nil
	case again:
		return false, err.Error(), nil
	}
	return false, "", err
}

// blockedBy names the budget that an eviction would break.
func blockedBy(r *refusalError) string {
	for _, c := range r.causes {
		if c.Type == policyv1.DisruptionBudgetCause {
			return c.Message
		}
	}
	return r.message
}

// describe says which pods are still there, and why the first of them that
// something keeps is kept.
func describe(left []leaving) string {
	const most = 3
	sorting.By(left, func(a, b leaving) int { // kept ones first
		switch {
		case (a.why == "") == (b.why == ""):
			return strings.Compare(a.pod, b.pod)
		case a.why != "":
			return -1
		}
		return 1
	})
	var parts []string
	for _, l := range left[:min(most, len(left))] {
		text := "pod " + l.pod
		if l.why != "" {
			text += " (" + strings.TrimSuffix(l.why, ".") + ")"
		}
		parts = append(parts, text)
	}
	if n := len(left) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return strings.Join(parts, ", ")
}
