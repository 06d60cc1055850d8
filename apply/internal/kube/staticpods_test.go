package kube

import (
	"reflect"
	"testing"
)

const reported = `
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: kube-apiserver-cp-1, labels: {tier: control-plane, k8s-app: kube-apiserver}, annotations: {kubernetes.io/config.mirror: x}}, spec: {nodeName: cp-1, containers: [{name: kube-apiserver, image: "registry.k8s.io/kube-apiserver:v1.36.4"}]}, status: {conditions: [{type: PodScheduled, status: "True"}, {type: Ready, status: "True"}]}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: kube-scheduler-cp-1, labels: {tier: control-plane, k8s-app: kube-scheduler}, annotations: {kubernetes.io/config.mirror: x}}, spec: {nodeName: cp-1, containers: [{name: sidecar, image: "sidecar:v1"}, {name: kube-scheduler, image: "mirror.example.com/kube-scheduler:v1.37.1"}]}, status: {conditions: [{type: Ready, status: "False"}]}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: like-one, labels: {tier: control-plane, k8s-app: kube-apiserver}}, spec: {nodeName: w-1, containers: [{name: kube-apiserver, image: "other:v1"}]}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: coredns, labels: {k8s-app: kube-dns}}, spec: {nodeName: w-1, containers: [{name: coredns, image: "coredns:v1"}]}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: kube-apiserver, labels: {tier: control-plane, k8s-app: kube-apiserver}, annotations: {kubernetes.io/config.mirror: x}}, spec: {nodeName: w-1, containers: [{name: kube-apiserver, image: "other:v1"}]}}
`

// TestStaticPods lists what kubelets run by themselves for the control plane, and nothing
// that looks like it.
func TestStaticPods(t *testing.T) {
	_, c := worldOf(t, reported)
	got, err := c.StaticPods(t.Context())
	want := []StaticPod{
		{"cp-1", "kube-apiserver", "registry.k8s.io/kube-apiserver:v1.36.4", true},
		{"cp-1", "kube-scheduler", "mirror.example.com/kube-scheduler:v1.37.1", false},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
