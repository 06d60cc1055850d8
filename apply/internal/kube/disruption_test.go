package kube

import (
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// world of pods: each is of an app, and on a node.
const disrupted = `
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: db-0, labels: {app: db}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]}, spec: {nodeName: w-1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: web-1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]}, spec: {nodeName: w-2, volumes: [{name: d, persistentVolumeClaim: {claimName: cloud}}]}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: web-2, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]}, spec: {nodeName: w-1}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: both, labels: {app: both, also: both}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: both, uid: u, controller: true}]}, spec: {nodeName: w-2}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: bare}, spec: {nodeName: w-1}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: bare-and-done}, spec: {nodeName: w-1}, status: {phase: Succeeded}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: bare-and-waiting}, spec: {}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: pinned, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: pinned, uid: u, controller: true}]}, spec: {nodeName: w-2, nodeSelector: {kubernetes.io/hostname: w-2}}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: agent, labels: {app: db}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]}, spec: {nodeName: w-1}}
{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: kube-apiserver-cp, annotations: {kubernetes.io/config.mirror: x}}, spec: {nodeName: cp}}
{apiVersion: v1, kind: PersistentVolume, metadata: {name: p1}, spec: {claimRef: {namespace: shop, name: data}, local: {path: /data}}}
{apiVersion: v1, kind: PersistentVolume, metadata: {name: p2}, spec: {claimRef: {namespace: shop, name: cloud}, csi: {driver: csi.hetzner.cloud, volumeHandle: "1"}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: csi.hetzner.cloud/location, operator: In, values: [fsn1]}]}]}}}}
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: shop, name: db}, spec: {selector: {matchLabels: {app: db}}, minAvailable: 90%}, status: {expectedPods: 1, desiredHealthy: 1, currentHealthy: 1, disruptionsAllowed: 0}}
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: shop, name: web}, spec: {selector: {matchLabels: {app: web}}}, status: {expectedPods: 2, desiredHealthy: 1, currentHealthy: 1, disruptionsAllowed: 0}}
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: shop, name: both-1}, spec: {selector: {matchLabels: {app: both}}}, status: {expectedPods: 3, desiredHealthy: 1, currentHealthy: 3, disruptionsAllowed: 2}}
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: shop, name: both-2}, spec: {selector: {matchLabels: {also: both}}}, status: {expectedPods: 3, desiredHealthy: 1, currentHealthy: 3, disruptionsAllowed: 2}}
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: other, name: db}, spec: {selector: {matchLabels: {app: db}}}, status: {expectedPods: 0, desiredHealthy: 0, disruptionsAllowed: 0}}
`

func disruptedWorld(t *testing.T) (*kubesim.API, *Client) { return worldOf(t, disrupted) }

// worldOf is an API with objects, one in each line.
func worldOf(t *testing.T, lines string) (*kubesim.API, *Client) {
	clock := newTestClock()
	api := kubesim.New("v1.36.4", clock.Now)
	for text := range strings.Lines(strings.TrimSpace(lines)) {
		var value map[string]any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		api.Put(object.Object)
	}
	server := httptest.NewTLSServer(api)
	t.Cleanup(server.Close)
	return api, (&fakeAPI{server: server}).client(t, clock)
}

// TestDisruption tells what suffers when nodes are drained: a percentage that rounds
// to all pods, a pod of two budgets, and what nothing starts elsewhere; and not what
// only waits for a pod to become healthy.
func TestDisruption(t *testing.T) {
	_, c := disruptedWorld(t)
	got, err := c.Disruption(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := Disruption{
		Budgets: []Budget{
			{Name: "shop/both-1", Nodes: []string{"w-2"}, Allowed: 2, Stuck: true},
			{Name: "shop/both-2", Nodes: []string{"w-2"}, Allowed: 2, Stuck: true},
			{Name: "shop/db", Nodes: []string{"w-1"}, Stuck: true},
			{Name: "shop/web", Nodes: []string{"w-1", "w-2"}},
		},
		Lone: map[string][]string{"w-1": {"shop/bare", "shop/db-0"}, "w-2": {"shop/pinned"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

// TestDrainOver leaves the pods of a budget where they are, and no others.
func TestDrainOver(t *testing.T) {
	api, c := disruptedWorld(t)
	api.Put(map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "w-1"}})
	web := api.Get("PodDisruptionBudget", "shop", "web")
	web["status"].(map[string]any)["disruptionsAllowed"] = int64(1)
	api.Put(web)
	if err := c.Drain(t.Context(), "w-1", DrainOptions{Within: time.Minute}); err == nil || !strings.Contains(err.Error(), "The disruption budget db") {
		t.Errorf("without consent: %v", err)
	}
	if err := c.Drain(t.Context(), "w-1", DrainOptions{Within: time.Minute, Over: []string{"shop/db"}}); err != nil {
		t.Error(err)
	}
	if api.Get("Pod", "shop", "db-0") == nil || api.Get("Pod", "shop", "web-2") != nil {
		t.Error("another pod has left")
	}
}
