package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/talosgen/talosgen/internal/sorting"
)

// Support reads of a cluster what those who help need to see of its nodes: no object of
// anybody's programs, and no Secret.
type Support struct{ client *Client }

// NewSupport reads from the cluster that a client talks to.
func NewSupport(c *Client) Support { return Support{c} }

// Nodes has a paragraph for each node: what it runs, and its conditions.
func (s Support) Nodes(ctx context.Context) (string, error) {
	all, err := listAs[corev1.Node](ctx, s.client.in(nodes, ""), metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	sorting.By(all, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	for _, n := range all {
		info := n.Status.NodeInfo
		fmt.Fprintf(&b, "%s\n  %s, kernel %s, %s, kubelet %s, %s\n", n.Name, info.OSImage, info.KernelVersion, info.ContainerRuntimeVersion, info.KubeletVersion, info.Architecture)
		if n.Spec.Unschedulable {
			b.WriteString("  no new pods are let in\n")
		}
		for _, t := range n.Spec.Taints {
			fmt.Fprintf(&b, "  taint %s:%s\n", t.Key, t.Effect)
		}
		for _, c := range n.Status.Conditions {
			fmt.Fprintf(&b, "  %s %s since %s: %s: %s\n", c.Type, c.Status, moment(c.LastTransitionTime.Time), c.Reason, words(c.Message))
		}
	}
	return b.String(), nil
}

// systemNamespaces are those whose events are about the cluster itself.
var systemNamespaces = []string{"kube-system", "flux-system"}

// mostSupportEvents bounds the events of one namespace.
const mostSupportEvents = 500

// Events has a line for each event that is about a node, and for each warning in the
// namespaces of the system, the newest first.
func (s Support) Events(ctx context.Context) (string, error) {
	var lines []string
	for _, namespace := range append([]string{"default"}, systemNamespaces...) {
		events, err := listAs[corev1.Event](ctx, s.client.in(eventsResource, namespace), metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		events = slices.DeleteFunc(events, func(e corev1.Event) bool {
			return e.InvolvedObject.Kind != "Node" && (e.Type != corev1.EventTypeWarning || !slices.Contains(systemNamespaces, namespace))
		})
		sorting.By(events, func(a, b corev1.Event) int { return happened(b).Compare(happened(a)) })
		for _, e := range events[:min(len(events), mostSupportEvents)] {
			lines = append(lines, fmt.Sprintf("%s %s %s/%s: %s: %s (%d times)\n", moment(happened(e)), e.Type, e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, words(e.Message), max(e.Count, 1)))
		}
	}
	sorting.By(lines, func(a, b string) int { return strings.Compare(b, a) })
	return strings.Join(lines, ""), nil
}

// happened is when an event was last seen.
func happened(e corev1.Event) time.Time {
	if e.LastTimestamp.IsZero() {
		return e.EventTime.Time
	}
	return e.LastTimestamp.Time
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// words is a text in one line.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
