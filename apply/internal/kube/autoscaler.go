package kube

import (
	"context"
	"encoding/base64"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/schemas"
)

// The names of what render makes for the autoscaler.
const (
	autoscalerName   = "cluster-autoscaler"
	autoscalerSecret = "cluster-autoscaler-hetzner-config"
	autoscalerKey    = "cluster-config"
)

// Autoscaler is what the API says of what makes nodes by itself.
type Autoscaler struct {
	Config []byte // what its Secret has for new servers; nil: there is no Secret
	Pods   []rotation.Pod
	Nodes  []string // the nodes of its groups that are registered
}

// ObserveAutoscaler observes what makes nodes by itself, in an order: what makes nodes that
// come after a look was there in the look before.
func ObserveAutoscaler(ctx context.Context, c *Client) (a Autoscaler, err error) {
	secret, err := c.in(secrets, metav1.NamespaceSystem).get(ctx, autoscalerSecret)
	switch {
	case err == nil:
		a.Config = AutoscalerConfig(secret)
	case !absent(err):
		return a, err
	}
	running, err := listAs[corev1.Pod](ctx, c.in(pods, metav1.NamespaceSystem), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + autoscalerName})
	if err != nil {
		return a, err
	}
	for _, p := range running {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			a.Pods = append(a.Pods, rotation.Pod{Name: p.Name, Mark: p.Annotations[rotation.MarkAnnotation]})
		}
	}
	all, err := listAs[corev1.Node](ctx, c.in(nodes, ""), metav1.ListOptions{LabelSelector: schemas.LabelNodeGroup})
	for _, n := range all {
		a.Nodes = append(a.Nodes, n.Name)
	}
	slices.Sort(a.Nodes)
	return a, err
}

// AutoscalerConfig is what a Secret of the autoscaler has for new servers. What cannot be
// read is not nothing.
func AutoscalerConfig(secret kubeplan.Object) []byte {
	text, err := base64.StdEncoding.DecodeString(secret.Text("data", autoscalerKey))
	if err != nil || len(text) == 0 {
		return []byte("{}")
	}
	return text
}

// IsAutoscalerSecret reports whether an object has what the autoscaler makes servers from.
func IsAutoscalerSecret(id kubeplan.ID) bool {
	return id.Kind == "Secret" && id.Namespace == metav1.NamespaceSystem && id.Name == autoscalerSecret
}
