package kube

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// actingClock does something while somebody sleeps: what controllers and
// kubelets would do.
type actingClock struct {
	testClock
	acts []func()
}

func (c *actingClock) Sleep(ctx context.Context, d time.Duration) error {
	if len(c.acts) > 0 {
		c.acts[0]()
		c.acts = c.acts[1:]
	}
	return c.testClock.Sleep(ctx, d)
}

// TestRealDrain drains a node of a real API server, where no kubelet runs.
func TestRealDrain(t *testing.T) {
	cluster := kubeenv.Start(t)
	newPod := func(name, more string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n  namespace: default\n  labels: {app: " + name + "}\n" + more +
			"spec: {nodeName: drained-1, containers: [{name: c, image: 'nginx:1'}]}\n"
	}
	cluster.Apply(t, "test", false,
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: default}\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: drained-1}\n",
		"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: default}\nspec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n",
		newPod("web", ""),
		newPod("agent", "  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: '1', controller: true}]\n"))
	o := realOptions(t, cluster)
	clock := &actingClock{testClock: *newTestClock()}
	o.Clock = clock
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	remove := func(r resource, name string, o metav1.DeleteOptions) func() {
		return func() {
			if err := c.in(r, "default").delete(context.Background(), name, o); err != nil {
				t.Error(err)
			}
		}
	}
	clock.acts = []func(){
		remove(resource{policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), true}, "web", metav1.DeleteOptions{}),
		remove(pods, "web", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}), // as a kubelet does at the end
	}
	running := map[string]any{"status": map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}}
	if _, err := c.in(pods, "default").patch(t.Context(), "web", types.MergePatchType, running, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	var reported []string
	if err := c.Drain(t.Context(), "drained-1", DrainOptions{Within: time.Minute, ForGood: true, Notify: func(s string) { reported = append(reported, s) }}); err != nil {
		t.Fatal(err)
	}
	if len(reported) < 2 || !strings.HasPrefix(reported[0], "waits: pod default/web (The disruption budget web") || reported[1] != "waits: pod default/web" {
		t.Errorf("told %q", reported)
	}
	cordoned := func() bool {
		nodes, err := c.Nodes(t.Context())
		i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == "drained-1" })
		if err != nil || i < 0 {
			t.Fatalf("%+v (%v)", nodes, err)
		}
		return nodes[i].Cordoned
	}
	if !cordoned() {
		t.Error("it is not cordoned")
	}
	if err := c.Uncordon(t.Context(), "drained-1"); err != nil || cordoned() {
		t.Errorf("it is still cordoned (%v)", err)
	}
	for range 2 {
		if err := c.DeleteNode(t.Context(), "drained-1"); err != nil {
			t.Error(err)
		}
	}
}
