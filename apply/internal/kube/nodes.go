package kube

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Node is a node that is registered.
type Node struct {
	Name  string
	Ready bool
	// What the cloud calls its machine, such as hcloud://42; empty: nobody has said.
	ProviderID string
	// Why it is not ready, as its kubelet says.
	Message string
	// Since when it is ready, or is not; the zero time: nobody has said.
	Since time.Time
	// It is not ready for want of a CNI, and of nothing else that it says.
	NoNetwork bool
	// No pods are placed on it.
	Cordoned bool
	// It was cordoned by [Client.Drain], and no [Client.Uncordon] came after.
	Drained bool
	// What a run has noted of an upgrade of the node; empty: none has begun.
	Upgrade string
	// What a run has noted of the Talos that the node ran before; empty: nobody has.
	Before       string
	ControlPlane bool
	// The version of its kubelet, such as v1.35.0.
	Kubelet string
	// The version of Talos, such as v1.14.1; empty if it runs something else.
	Talos string
	// The group of the autoscaler that its label names; it may have none all the same.
	Group string
	// The addresses that its kubelet names, the first of each kind; empty if none.
	Internal, External string
}

var nodes = resource{corev1.SchemeGroupVersion.WithResource("nodes"), false}

// drained is the annotation of a node that was cordoned here: one that somebody
// else has cordoned stays so.
const drained = "talosgen.dev/drained"

// upgrade is the annotation of a node with whose upgrade a run has begun.
const upgrade = "talosgen.dev/upgrade"

// before is the annotation of a node with the Talos that it ran before.
const before = "talosgen.dev/upgraded-from"

// MarkUpgrade notes at a node what a run has begun with it; an empty text removes the
// note. Without the node there is nowhere to note it: that is an error.
func (c *Client) MarkUpgrade(ctx context.Context, name, text string) error {
	return annotate(ctx, c, name, upgrade, text)
}

// NoteBefore notes at a node the Talos that it ran before.
func (c *Client) NoteBefore(ctx context.Context, name, text string) error {
	return annotate(ctx, c, name, before, text)
}

// annotate gives a node an annotation; an empty text removes it.
func annotate(ctx context.Context, c *Client, name, annotation, text string) error {
	var value any
	if text != "" {
		value = text
	}
	known, err := patchNode(ctx, c, name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotation: value}}})
	if err == nil && !known {
		return diag.On("node "+name, "Kubernetes does not know it").WithCode(diag.Remote)
	}
	return err
}

// Nodes lists the nodes that are registered.
func (c *Client) Nodes(ctx context.Context) (found []Node, err error) {
	all, err := listAs[corev1.Node](ctx, c.in(nodes, ""), metav1.ListOptions{})
	for _, n := range all {
		found = append(found, nodeOf(n))
	}
	return found, err
}

// nodeOf reads what is of interest. A kubelet without a CNI names that in the
// message of the condition, behind what else keeps it from being ready.
func nodeOf(n corev1.Node) Node {
	const noCNI = "NetworkReady=false reason:NetworkPluginNotReady"
	found := Node{
		Name: n.Name, ProviderID: n.Spec.ProviderID, Cordoned: n.Spec.Unschedulable, Drained: n.Annotations[drained] != "", Upgrade: n.Annotations[upgrade], Before: n.Annotations[before], Kubelet: n.Status.NodeInfo.KubeletVersion,
		Talos:        talosOf(n.Status.NodeInfo.OSImage),
		ControlPlane: controlPlane(n),
		Message:      "its kubelet has not reported yet",
		Group:        n.Labels[schemas.LabelNodeGroup],
		Internal:     addressOf(n, corev1.NodeInternalIP),
		External:     addressOf(n, corev1.NodeExternalIP),
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		found.Ready = condition.Status == corev1.ConditionTrue
		found.Message, found.Since = condition.Message, condition.LastTransitionTime.Time
		found.NoNetwork = !found.Ready && strings.HasPrefix(condition.Message, "container runtime network not ready: "+noCNI)
	}
	if found.Ready {
		found.Message = ""
	}
	return found
}

func addressOf(n corev1.Node, of corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == of {
			return a.Address
		}
	}
	return ""
}

// controlPlane reports whether Talos has labelled a node as one.
func controlPlane(n corev1.Node) bool {
	_, labelled := n.Labels["node-role.kubernetes.io/control-plane"]
	return labelled
}

// talosOf finds the version in the name that Talos gives itself: Talos (v1.14.1).
func talosOf(image string) string {
	version, found := strings.CutPrefix(image, "Talos (")
	if !found {
		return ""
	}
	return strings.TrimSuffix(version, ")")
}

// Uncordon lets pods in again, unless somebody else than [Client.Drain] keeps
// them out. A node that Kubernetes does not know is no error.
func (c *Client) Uncordon(ctx context.Context, name string) error {
	n, err := c.in(nodes, "").get(ctx, name)
	if absent(err) || err == nil && kubeplan.Object(n).Text("metadata", "annotations", drained) == "" {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = patchNode(ctx, c, name, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{drained: nil}},
		"spec":     map[string]any{"unschedulable": nil},
	})
	return err
}

// patchNode changes a node. It reports whether Kubernetes knows it.
func patchNode(ctx context.Context, c *Client, name string, patch any) (known bool, err error) {
	_, err = c.in(nodes, "").patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if absent(err) {
		return false, nil
	}
	return true, err
}

// DeleteNode removes a node from Kubernetes. One that is not there is no error.
// Its kubelet registers again if it still runs.
func (c *Client) DeleteNode(ctx context.Context, name string) error {
	err := c.in(nodes, "").delete(ctx, name, metav1.DeleteOptions{})
	if absent(err) {
		return nil
	}
	return err
}
