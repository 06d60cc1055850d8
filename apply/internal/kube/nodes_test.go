package kube

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fakeNodeAPI has one node, and pods that leave some lists after they were asked
// to.
type fakeNodeAPI struct {
	mu   sync.Mutex
	node *corev1.Node // nil: Kubernetes does not know it
	pods []*fakePod
	log  []string // the writes
	down bool
}

type fakePod struct {
	corev1.Pod
	refusals []string // answers to evictions before one is allowed: status and body
	lists    int      // lists in which it still is after that; -1: it never goes
	asked    bool
}

func pod(name string, change ...func(*fakePod)) *fakePod {
	p := &fakePod{Pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "uid-1", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", Controller: new(true)}}}}}
	for _, c := range change {
		c(p)
	}
	return p
}

func ownedBy(kind string) func(*fakePod) {
	return func(p *fakePod) { p.OwnerReferences[0].Kind = kind }
}

func unmanaged(p *fakePod) { p.OwnerReferences = nil }

func static(p *fakePod) {
	unmanaged(p)
	p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
}

func finished(p *fakePod) { p.Status.Phase = corev1.PodSucceeded }

func lingers(lists int) func(*fakePod) { return func(p *fakePod) { p.lists = lists } }

func refuses(answers ...string) func(*fakePod) { return func(p *fakePod) { p.refusals = answers } }

const budget = `429 {"kind":"Status","message":"Cannot evict pod as it would violate the pod's disruption budget.","reason":"TooManyRequests",` +
	`"details":{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget web needs 2 healthy pods and has 2 currently"}]}}`

func (f *fakeNodeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodGet {
		f.log = append(f.log, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, shortBody(body))))
	}
	switch path := r.URL.Path; {
	case f.down:
		answer(w, `503 {"kind":"Status","message":"not now"}`)
	case path == "/api/v1/pods":
		f.listPods(w)
	case strings.HasSuffix(path, "/eviction"):
		f.evict(w, strings.Split(path, "/")[6])
	case path == nodes.path("", ""):
		send(w, "NodeList", map[string]any{"items": []*corev1.Node{f.node}})
	case f.node == nil:
		answer(w, `404 {"kind":"Status","reason":"NotFound","message":"nodes \"n\" not found"}`)
	case r.Method == http.MethodPatch:
		f.patch(body)
		send(w, "Node", f.node)
	case r.Method == http.MethodDelete:
		f.node = nil
		answer(w, `200 {"kind":"Status"}`)
	default:
		send(w, "Node", f.node)
	}
}

// shortBody leaves out of an eviction what its path says already.
func shortBody(body []byte) string {
	var eviction struct {
		Kind    string          `json:"kind"`
		Options json.RawMessage `json:"deleteOptions"`
	}
	if err := json.Unmarshal(body, &eviction); err == nil && eviction.Kind == "Eviction" {
		return string(eviction.Options)
	}
	return string(body)
}

func (f *fakeNodeAPI) patch(body []byte) {
	var patch struct {
		Metadata struct{ Annotations map[string]*string }
		Spec     struct{ Unschedulable *bool }
	}
	if err := json.Unmarshal(body, &patch); err != nil {
		panic(err)
	}
	f.node.Spec.Unschedulable = patch.Spec.Unschedulable != nil
	for k, v := range patch.Metadata.Annotations {
		delete(f.node.Annotations, k)
		if v != nil {
			f.node.Annotations = map[string]string{k: *v}
		}
	}
}

func (f *fakeNodeAPI) listPods(w http.ResponseWriter) {
	f.pods = slices.DeleteFunc(f.pods, func(p *fakePod) bool { return p.asked && p.lists == 0 })
	var pods []corev1.Pod
	for _, p := range f.pods {
		if p.asked {
			p.lists--
		}
		pods = append(pods, p.Pod)
	}
	send(w, "PodList", map[string]any{"items": pods})
}

func (f *fakeNodeAPI) evict(w http.ResponseWriter, name string) {
	i := slices.IndexFunc(f.pods, func(p *fakePod) bool { return p.Name == name })
	p := f.pods[i]
	if len(p.refusals) > 0 {
		answer(w, p.refusals[0])
		if len(p.refusals) > 1 {
			p.refusals = p.refusals[1:]
		} else if p.lists >= 0 {
			p.refusals = nil
		}
		return
	}
	p.asked, p.DeletionTimestamp = true, &metav1.Time{Time: time.Unix(1, 0)}
	answer(w, `201 {"kind":"Status"}`)
}

// send answers with an object of a kind.
func send(w http.ResponseWriter, kind string, object any) {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	answer(w, `200 {"apiVersion":"v1","kind":"`+kind+`",`+string(text[1:]))
}

// answer is a status and a body, which says of a refusal what an API server says.
func answer(w http.ResponseWriter, text string) {
	var status int
	fmt.Sscan(text, &status)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body := text[4:]; status >= http.StatusBadRequest {
		fmt.Fprintf(w, `{"status":"Failure","code":%d,%s`, status, body[1:])
	} else {
		fmt.Fprint(w, body)
	}
}

func (f *fakeNodeAPI) client(t *testing.T, clock Clock) *Client {
	t.Helper()
	server := httptest.NewTLSServer(f)
	t.Cleanup(server.Close)
	return (&fakeAPI{server: server}).client(t, clock)
}

const (
	cordonPatch   = `PATCH /api/v1/nodes/n {"metadata":{"annotations":{"talosgen.dev/drained":"true"}},"spec":{"unschedulable":true}}`
	uncordonPatch = `PATCH /api/v1/nodes/n {"metadata":{"annotations":{"talosgen.dev/drained":null}},"spec":{"unschedulable":null}}`
)

func evicted(name string) string {
	return "POST /api/v1/namespaces/ns/pods/" + name + `/eviction {"preconditions":{"uid":"uid-1"}}`
}

func TestDrain(t *testing.T) {
	for _, test := range []struct {
		name    string
		pods    []*fakePod
		forGood bool
		log     []string // without that of cordoning
		told    string
		took    time.Duration
		want    string // of the error
	}{
		{"nothing runs", nil, false, nil, "", 0, ""},
		{"what stays, and what goes", []*fakePod{pod("web"), pod("agent", ownedBy("DaemonSet")), pod("kube-apiserver", static), pod("job", finished), pod("mine", unmanaged)},
			false, []string{evicted("web")}, "waits: pod ns/web", pollEvery, ""},
		{"what nothing makes anew goes for good", []*fakePod{pod("mine", unmanaged), pod("kube-apiserver", static)},
			true, []string{evicted("mine")}, "waits: pod ns/mine", pollEvery, ""},
		{"a pod that takes its time is asked once", []*fakePod{pod("web", lingers(3))}, false, []string{evicted("web")}, "waits: pod ns/web", 4 * pollEvery, ""},
		{"a budget, for a while", []*fakePod{pod("web", refuses(budget, budget)), pod("api")}, false,
			[]string{evicted("web"), evicted("api"), evicted("web"), evicted("web")},
			"waits: pod ns/web (The disruption budget web needs 2 healthy pods and has 2 currently), pod ns/api|" +
				"waits: pod ns/web (The disruption budget web needs 2 healthy pods and has 2 currently)|waits: pod ns/web", 3 * pollEvery, ""},
		{"gone meanwhile", []*fakePod{pod("web", refuses(`404 {"kind":"Status"}`), lingers(-1))}, false, []string{evicted("web")}, "", 0, ""},
		{"another pod of that name", []*fakePod{pod("web", refuses(`409 {"kind":"Status"}`), lingers(-1))}, false, []string{evicted("web")}, "", 0, ""},
		{"its namespace goes", []*fakePod{pod("web", refuses(`403 {"kind":"Status","details":{"causes":[{"reason":"NamespaceTerminating"}]}}`))}, false,
			[]string{evicted("web"), evicted("web")}, "waits: pod ns/web (its namespace is being deleted)|waits: pod ns/web", 2 * pollEvery, ""},
		{"not allowed", []*fakePod{pod("web", refuses(`403 {"kind":"Status","message":"no"}`))}, false, []string{evicted("web")}, "", 0,
			"Kubernetes API: POST /api/v1/namespaces/ns/pods/web/eviction: 403 Forbidden: no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, clock := &fakeNodeAPI{node: &corev1.Node{}, pods: test.pods}, newTestClock()
			begin, reported := clock.now, []string{}
			err := f.client(t, clock).Drain(t.Context(), "n", DrainOptions{Within: time.Minute, ForGood: test.forGood, Notify: func(s string) { reported = append(reported, s) }})
			if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if want := append([]string{cordonPatch}, test.log...); !slices.Equal(f.log, want) {
				t.Errorf("requests\n%s\nwant\n%s", strings.Join(f.log, "\n"), strings.Join(want, "\n"))
			}
			if got := strings.Join(reported, "|"); got != test.told {
				t.Errorf("told\n%s\nwant\n%s", got, test.told)
			}
			if took := clock.now.Sub(begin); took != test.took {
				t.Errorf("took %v, want %v", took, test.took)
			}
		})
	}
}

// TestDrainFails leaves the node cordoned, and says which pods are in the way.
func TestDrainFails(t *testing.T) {
	f, clock := &fakeNodeAPI{node: &corev1.Node{}}, newTestClock()
	for i := range 5 {
		f.pods = append(f.pods, pod(fmt.Sprintf("web-%d", i), lingers(-1)))
	}
	f.pods[4].refusals = []string{budget}
	err := f.client(t, clock).Drain(t.Context(), "n", DrainOptions{Within: time.Minute})
	const want = "node n: not drained within 1m0s: pod ns/web-4 (The disruption budget web needs 2 healthy pods and has 2 currently), pod ns/web-0, pod ns/web-1, 2 more"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v\nwant %s", err, want)
	}
	if !f.node.Spec.Unschedulable {
		t.Error("it is not cordoned")
	}
}

// TestDrainUnknown has nothing to do for a node that is not there, and fails if
// the API does.
func TestDrainUnknown(t *testing.T) {
	f := &fakeNodeAPI{}
	c := f.client(t, newTestClock())
	for name, do := range map[string]func() error{
		"drain":    func() error { return c.Drain(t.Context(), "n", DrainOptions{}) },
		"uncordon": func() error { return c.Uncordon(t.Context(), "n") },
		"delete":   func() error { return c.DeleteNode(t.Context(), "n") },
	} {
		f.down = false
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.down = true
		if err := do(); err == nil || !strings.Contains(err.Error(), "503 Service Unavailable: not now") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestUncordon lets pods in again, unless somebody else cordoned the node.
func TestUncordon(t *testing.T) {
	for _, test := range []struct {
		name     string
		cordoned bool
		want     []string
	}{
		{"cordoned by a drain", false, []string{cordonPatch, uncordonPatch}},
		{"cordoned by somebody", true, nil},
	} {
		f := &fakeNodeAPI{node: &corev1.Node{Spec: corev1.NodeSpec{Unschedulable: test.cordoned}}}
		c := f.client(t, newTestClock())
		for range 2 { // the second time there is nothing to do
			if err := c.Drain(t.Context(), "n", DrainOptions{}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := c.Uncordon(t.Context(), "n"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if want := append(test.want, test.want...); !slices.Equal(f.log, want) {
			t.Errorf("%s: requests\n%s\nwant\n%s", test.name, strings.Join(f.log, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestMarkUpgrade notes what a run has begun with a node, and takes the note back; a
// node that is not there has no place for it.
func TestMarkUpgrade(t *testing.T) {
	f := &fakeNodeAPI{node: &corev1.Node{}}
	c := f.client(t, newTestClock())
	for _, text := range []string{"installing", ""} {
		if err := c.MarkUpgrade(t.Context(), "n", text); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`PATCH /api/v1/nodes/n {"metadata":{"annotations":{"talosgen.dev/upgrade":"installing"}}}`, `PATCH /api/v1/nodes/n {"metadata":{"annotations":{"talosgen.dev/upgrade":null}}}`}
	if !slices.Equal(f.log, want) {
		t.Errorf("requests\n%s", strings.Join(f.log, "\n"))
	}
	f.node = nil
	if err := c.MarkUpgrade(t.Context(), "n", "installing"); err == nil || !strings.Contains(err.Error(), "does not know it") {
		t.Errorf("error %v", err)
	}
}

func TestDeleteNode(t *testing.T) {
	f := &fakeNodeAPI{node: &corev1.Node{}}
	if err := f.client(t, newTestClock()).DeleteNode(t.Context(), "n"); err != nil || f.node != nil {
		t.Errorf("%v, %v", err, f.node)
	}
}

// TestNodes reads what kubelets say.
func TestNodes(t *testing.T) {
	const noCNI = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
	condition := func(status corev1.ConditionStatus, message string) []corev1.NodeCondition {
		return []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Message: "x"}, {Type: corev1.NodeReady, Status: status, Message: message}}
	}
	for _, test := range []struct {
		name       string
		conditions []corev1.NodeCondition
		want       Node
	}{
		{"ready", condition(corev1.ConditionTrue, "kubelet is posting ready status"), Node{Ready: true}},
		{"not ready", condition(corev1.ConditionFalse, "PLEG is not healthy"), Node{Message: "PLEG is not healthy"}},
		{"silent", condition(corev1.ConditionUnknown, "Kubelet stopped posting node status."), Node{Message: "Kubelet stopped posting node status."}},
		{"no CNI", condition(corev1.ConditionFalse, noCNI), Node{Message: noCNI, NoNetwork: true}},
		{"no CNI, and more", condition(corev1.ConditionFalse, "["+noCNI+", PLEG is not healthy]"), Node{Message: "[" + noCNI + ", PLEG is not healthy]"}},
		{"new", nil, Node{Message: "its kubelet has not reported yet"}},
	} {
		f := &fakeNodeAPI{node: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{drained: "true"}, Labels: map[string]string{"hcloud/node-group": "demo-auto"}},
			Spec:       corev1.NodeSpec{Unschedulable: true},
			Status: corev1.NodeStatus{Conditions: test.conditions, NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.35.0"}, Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeHostName, Address: "n"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.7"}, {Type: corev1.NodeInternalIP, Address: "fd00::7"}}},
		}}
		nodes, err := f.client(t, newTestClock()).Nodes(t.Context())
		test.want.Name, test.want.Cordoned, test.want.Drained, test.want.Kubelet = "n", true, true, "v1.35.0"
		test.want.Group, test.want.Internal = "demo-auto", "10.0.0.7"
		if err != nil || !reflect.DeepEqual(nodes, []Node{test.want}) {
			t.Errorf("%s: %+v (%v), want %+v", test.name, nodes, err, test.want)
		}
	}
}
