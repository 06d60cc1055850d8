package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/sorting"
)

const mostEvents = 3

var eventsResource = resource{corev1.SchemeGroupVersion.WithResource("events"), true}

// lastEvents are the last events about an object and what it made, newest first.
// That there are none to be had is no error of its own: they explain another one.
func lastEvents(ctx context.Context, c *Client, id kubeplan.ID) (lines []string) {
	events, err := listAs[corev1.Event](ctx, c.in(eventsResource, cmp.Or(id.Namespace, "default")), metav1.ListOptions{})
	events = slices.DeleteFunc(events, func(e corev1.Event) bool {
		own := e.InvolvedObject.Kind == id.Kind && e.InvolvedObject.Name == id.Name
		// What an object makes is of another kind, and named after it.
		return !own && (e.InvolvedObject.Kind == id.Kind || !strings.HasPrefix(e.InvolvedObject.Name, id.Name+"-"))
	})
	if err != nil {
		return []string{"they cannot be read: " + oneLine(err)}
	}
	// Warnings say more than that something was made.
	sorting.By(events, func(a, b corev1.Event) int {
		return cmp.Or(-cmp.Compare(a.Type, b.Type), happened(b).Compare(happened(a)))
	})
	for _, e := range events[:min(len(events), mostEvents)] {
		lines = append(lines, fmt.Sprintf("%s %s/%s: %s: %s", e.Type, e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, strings.Join(strings.Fields(e.Message), " ")))
	}
	return lines
}
