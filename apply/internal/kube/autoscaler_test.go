package kube

import (
	"reflect"
	"testing"

	"github.com/talosgen/talosgen/internal/rotation"
)

const scaledCluster = `
{apiVersion: v1, kind: Secret, metadata: {namespace: kube-system, name: cluster-autoscaler-hetzner-config}, data: {cluster-config: eyJhIjoxfQ==}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: old, labels: {app.kubernetes.io/name: cluster-autoscaler}}, status: {phase: Running}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: new, labels: {app.kubernetes.io/name: cluster-autoscaler}, annotations: {talosgen.dev/authorities: "talos-ca=a,b"}}, status: {phase: Pending}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: ended, labels: {app.kubernetes.io/name: cluster-autoscaler}}, status: {phase: Failed}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: coredns, labels: {k8s-app: kube-dns}}, status: {phase: Running}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: like-it, labels: {app.kubernetes.io/name: cluster-autoscaler}}, status: {phase: Running}}
{apiVersion: v1, kind: Node, metadata: {name: w-1}}
{apiVersion: v1, kind: Node, metadata: {name: burst-1, labels: {hcloud/node-group: burst}}}
`

// TestAutoscaler finds what makes nodes, also a pod that only starts, and nothing that
// looks like it.
func TestAutoscaler(t *testing.T) {
	_, c := worldOf(t, scaledCluster)
	got, err := ObserveAutoscaler(t.Context(), c)
	want := Autoscaler{Config: []byte(`{"a":1}`), Pods: []rotation.Pod{{Name: "new", Mark: "talos-ca=a,b"}, {Name: "old"}}, Nodes: []string{"burst-1"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	_, c = worldOf(t, `{apiVersion: v1, kind: Node, metadata: {name: w-1}}`)
	if got, err := ObserveAutoscaler(t.Context(), c); err != nil || !reflect.DeepEqual(got, Autoscaler{}) {
		t.Errorf("without one: %+v, %v", got, err)
	}
	if got := AutoscalerConfig(map[string]any{"data": map[string]any{"cluster-config": "?"}}); string(got) != "{}" {
		t.Errorf("what cannot be read: %s", got)
	}
}
