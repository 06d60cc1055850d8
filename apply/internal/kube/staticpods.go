package kube

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StaticPod is a program of the control plane that a kubelet runs by itself, as it
// reports it.
type StaticPod struct {
	Node    string
	Program string // such as kube-apiserver
	Image   string
	Ready   bool
}

// StaticPods lists the programs of the control plane on all nodes. One that no kubelet
// has reported is not among them.
func (c *Client) StaticPods(ctx context.Context) (found []StaticPod, err error) {
	all, err := listAs[corev1.Pod](ctx, c.in(pods, metav1.NamespaceSystem), metav1.ListOptions{LabelSelector: "tier=control-plane"})
	for _, p := range all {
		if _, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]; !mirror || p.DeletionTimestamp != nil {
			continue
		}
		for _, container := range p.Spec.Containers {
			if container.Name == p.Labels["k8s-app"] {
				found = append(found, StaticPod{p.Spec.NodeName, container.Name, container.Image, isReady(p)})
			}
		}
	}
	return found, err
}

// isReady reports whether the kubelet says that a pod is ready.
func isReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
