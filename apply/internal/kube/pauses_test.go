package kube

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// pausingClock notes for how long somebody sleeps.
type pausingClock struct {
	testClock
	pauses []time.Duration
}

func (c *pausingClock) Sleep(ctx context.Context, d time.Duration) error {
	c.pauses = append(c.pauses, d)
	return c.testClock.Sleep(ctx, d)
}

// backoff are the pauses before n repetitions.
func backoff(n int) (pauses []time.Duration) {
	for i := range n {
		pauses = append(pauses, pauseBefore(i))
	}
	return pauses
}

// pausing is a simulated API that an effect stands before, with a client of no patience.
func pausing(t *testing.T, effect faultproxy.Effect) (*Client, *pausingClock, *[]string) {
	t.Helper()
	clock, asked := &pausingClock{testClock: *newTestClock()}, &[]string{}
	api := kubesim.New("v1.36.4", clock.Now)
	c, err := newClient(Options{URL: "https://api.example.org", Clock: clock}, faultproxy.Direct(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery)
		effect(w, r, api)
	})))
	if err != nil {
		t.Fatal(err)
	}
	return c, clock, asked
}

// struck lets an effect strike the requests of a method.
func struck(method string, as faultproxy.Effect) faultproxy.Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == method {
			as(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// TestTakeoverPauses: an object that others change again and again is tried to be taken
// over with pauses that grow, and not for ever.
func TestTakeoverPauses(t *testing.T) {
	var busy bool
	c, clock, asked := pausing(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if busy && r.Method == http.MethodPatch {
			refuse(w, http.StatusConflict, string(metav1.StatusReasonConflict), "the object has been modified")
			return
		}
		next.ServeHTTP(w, r)
	})
	item := one("default").read(t).Items[0]
	options := metav1.PatchOptions{FieldManager: "helm", Force: new(true)}
	if _, err := c.in(configMaps, "default").patch(t.Context(), item.ID().Name, "application/apply-patch+yaml", item.Send(), options); err != nil {
		t.Fatal(err)
	}
	desired := one("default").read(t)
	observed, err := c.Observe(t.Context(), desired)
	if err != nil {
		t.Fatal(err)
	}
	p := kubeplan.Takeover(desired, observed)
	if len(p.Changes()) != 1 {
		t.Fatalf("the plan is %s", p)
	}
	busy, *asked = true, nil
	_, err = (&Executor{Client: c, Stage: progress.Begin(nil, "take over", 0)}).TakeOver(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "the object has been modified") {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(clock.pauses, backoff(takeovers)) {
		t.Errorf("paused for %v, want %v", clock.pauses, backoff(takeovers))
	}
	if most := 2 + 2*(takeovers+1); len(*asked) > most {
		t.Errorf("%d requests, want at most %d", len(*asked), most)
	}
}

// TestApplyPauses: the same for an apply that others overtake.
func TestApplyPauses(t *testing.T) {
	c, clock, asked := pausing(t, struck(http.MethodPatch, refuseAlways(http.StatusConflict, metav1.StatusReasonConflict, 0)))
	trials, err := c.Trials(t.Context(), one("default").read(t).Items)
	if err != nil || len(trials) != 1 {
		t.Errorf("%v (%v)", trials, err)
	}
	if !slices.Equal(clock.pauses, backoff(applies)) || len(*asked) != 2+applies+1 {
		t.Errorf("%d requests, paused for %v", len(*asked), clock.pauses)
	}
}

// TestExpiredLists: a list whose pages expire is read once more, as a whole; that needs
// no pause.
func TestExpiredLists(t *testing.T) {
	c, clock, asked := pausing(t, expired)
	for _, name := range []string{"a", "b"} {
		o := map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name}}
		if _, err := c.in(nodes, "").patch(t.Context(), name, "application/apply-patch+yaml", o, metav1.PatchOptions{FieldManager: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	*asked = nil
	_, err := c.Nodes(t.Context())
	if err == nil || !strings.Contains(err.Error(), "is followed by itself") {
		t.Errorf("a whole list that goes on: error %v", err)
	}
	want := []string{"GET /api/v1/nodes?limit=250", "GET /api/v1/nodes?continue=1&limit=250", "GET /api/v1/nodes?"}
	if !slices.Equal(*asked, want) || len(clock.pauses) > 0 {
		t.Errorf("requests %q, paused for %v", *asked, clock.pauses)
	}
}

// TestLeasePauses: a lock that others take again and again is asked for with pauses that
// grow, and not for ever.
func TestLeasePauses(t *testing.T) {
	c, clock, asked := pausing(t, struck(http.MethodPost, refuseAlways(http.StatusConflict, metav1.StatusReasonAlreadyExists, 0)))
	_, err := AcquireLease(t.Context(), lockName, Holder{Owner: "ann@desk", Run: "1"}, func(context.Context) (*Client, error) { return c, nil })
	if err == nil || !strings.Contains(err.Error(), "too many runs want it") {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(clock.pauses, backoff(leaseTries-1)) || len(*asked) != 2*leaseTries {
		t.Errorf("%d requests, paused for %v", len(*asked), clock.pauses)
	}
}

// TestEvictionPauses: a pod that a budget keeps is asked to leave ever less often.
func TestEvictionPauses(t *testing.T) {
	f, clock := &fakeNodeAPI{node: &corev1.Node{}, pods: []*fakePod{pod("web", refuses(budget), lingers(-1))}}, &pausingClock{testClock: *newTestClock()}
	err := f.client(t, clock).Drain(t.Context(), "n", DrainOptions{Within: 10 * time.Minute})
	if err == nil || !strings.Contains(err.Error(), "not drained within 10m0s") {
		t.Errorf("error %v", err)
	}
	for i, pause := range clock.pauses {
		if pause != pollPause(i) {
			t.Errorf("pause %d is %s, want %s", i, pause, pollPause(i))
		}
	}
	if n := len(clock.pauses); n > 75 || len(f.log) != n+2 {
		t.Errorf("%d pauses, %d requests that change something", n, len(f.log))
	}
}
