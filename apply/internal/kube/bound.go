package kube

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/talosgen/talosgen/apply/plan/recreate"
)

// locationKeys are the labels by which volumes are bound to a location: that of Hetzner's
// CSI driver, and Kubernetes' own, which its volumes have since 2.0.
var locationKeys = []string{"csi.hetzner.cloud/location", corev1.LabelTopologyRegion}

// BoundVolumes are the persistent volumes that only some nodes have, or nodes of some
// locations, with the pods that use them: a list of volumes and one of pods.
func BoundVolumes(ctx context.Context, c *Client) ([]recreate.Bound, error) {
	disks, err := listAs[corev1.PersistentVolume](ctx, c.in(volumes, ""), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all, err := listAs[corev1.Pod](ctx, c.in(pods, ""), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return boundVolumes(disks, all), nil
}

func boundVolumes(disks []corev1.PersistentVolume, all []corev1.Pod) (found []recreate.Bound) {
	users := usersOf(all)
	for _, d := range disks {
		claim := d.Spec.ClaimRef
		if claim == nil {
			continue
		}
		v := recreate.Bound{
			Claim: claim.Namespace + "/" + claim.Name, HostPath: d.Spec.HostPath != nil || d.Spec.Local != nil,
			Nodes: affine(d.Spec, corev1.LabelHostname), Pods: users[types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}],
		}
		for _, key := range locationKeys {
			v.Locations = append(v.Locations, affine(d.Spec, key)...)
		}
		if v.HostPath || len(v.Nodes)+len(v.Locations) > 0 {
			found = append(found, v)
		}
	}
	return found
}

// usersOf are the pods that use claims, by their nodes. Those that are done use none.
func usersOf(all []corev1.Pod) map[types.NamespacedName]map[string][]string {
	users := map[types.NamespacedName]map[string][]string{}
	for _, p := range all {
		if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, claim := range claimsOf(p) {
			key := types.NamespacedName{Namespace: p.Namespace, Name: claim}
			if users[key] == nil {
				users[key] = map[string][]string{}
			}
			users[key][p.Spec.NodeName] = append(users[key][p.Spec.NodeName], p.Namespace+"/"+p.Name)
		}
	}
	for _, nodes := range users {
		for _, names := range nodes {
			slices.Sort(names)
		}
	}
	return users
}

// claimsOf are the claims of a pod, those that were made for it too.
func claimsOf(p corev1.Pod) (names []string) {
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, p.Name+"-"+v.Name)
		}
	}
	return names
}

// affine are the values of a label that the nodes of a volume have to have.
func affine(v corev1.PersistentVolumeSpec, key string) (values []string) {
	if v.NodeAffinity == nil || v.NodeAffinity.Required == nil {
		return nil
	}
	for _, term := range v.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if e.Key == key && e.Operator == corev1.NodeSelectorOpIn {
				values = append(values, e.Values...)
			}
		}
	}
	return values
}
