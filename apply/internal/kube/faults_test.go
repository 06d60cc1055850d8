package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/testenv/kubeenv"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// faulty stands before a real API server, and answers some requests itself.
type faulty struct {
	mu     sync.Mutex
	answer func(n int, r *http.Request) (status int, body string) // 0: the API server does
	writes int
}

// newFaulty is a client that reaches the API server through it.
func newFaulty(t testing.TB, c *kubeenv.Cluster, f *faulty) *run {
	t.Helper()
	direct := directly(t, c)
	target, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = direct
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		if r.Method != http.MethodGet && !strings.Contains(r.URL.RawQuery, "dryRun") {
			f.writes++
		}
		status, body := 0, ""
		if f.answer != nil {
			status, body = f.answer(f.writes, r)
		}
		f.mu.Unlock()
		switch {
		case status == hangUp:
			panic(http.ErrAbortHandler)
		case status == doAndHangUp:
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case status != 0:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	server.Config.ErrorLog = nil
	server.Start()
	t.Cleanup(server.Close)
	o := realOptions(t, c)
	o.URL, o.Within, o.Patience, o.Clock = server.URL, 30*time.Second, 20*time.Second, newTestClock()
	client, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &run{t: t, client: client}
}

// directly is the connection to an API server, for what stands before it.
func directly(t testing.TB, c *kubeenv.Cluster) *http.Transport {
	t.Helper()
	direct, err := transport(realOptions(t, c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(direct.CloseIdleConnections)
	return direct
}

// Answers that are none.
const (
	hangUp      = -1 // before anything is done
	doAndHangUp = -2 // after it is done
)

// refusing is what an API server says when it refuses something.
func refusing(status int, reason, message string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, message, status)
}

// small is a tree of one object.
func small(name string) tree {
	return tree{"bootstrap/ccm/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: default}, data: {x: one}}"}
}

// What an API server may answer that no test can make it answer: it is asked
// again, or the error says what is wrong and what to do. For what a test can, see
// realfaults_test.go.
func TestFaults(t *testing.T) {
	c := kubeenv.Start(t)
	forget(t, c)
	always := func(code int, body string) func(int, *http.Request) (int, string) {
		return func(_ int, r *http.Request) (int, string) {
			if strings.Contains(r.URL.Path, "/configmaps/fault-") {
				return code, body
			}
			return 0, ""
		}
	}
	once := func(code int, body string) func(int, *http.Request) (int, string) {
		first := true
		return func(_ int, r *http.Request) (int, string) {
			if strings.Contains(r.URL.Path, "/configmaps/fault-") && r.Method == http.MethodPatch && first {
				first = false
				return code, body
			}
			return 0, ""
		}
	}
	for i, test := range []struct {
		name   string
		answer func(int, *http.Request) (int, string)
		want   string // of the error; empty: it is repeated, and done
		hint   string
	}{
		{"too many requests", once(429, refusing(429, "TooManyRequests", "later")), "", ""},
		{"internal error", once(500, refusing(500, "InternalError", "etcdserver: leader changed")), "", ""},
		{"unavailable", once(503, ""), "", ""},
		{"hangs up", once(hangUp, ""), "", ""},
		{"does it, and hangs up", once(doAndHangUp, ""), "", ""},
		{"too many requests, for ever", always(429, refusing(429, "TooManyRequests", "later")), ": later", ""},
		{"not known", always(401, refusing(401, "Unauthorized", "Unauthorized")), ": Unauthorized", "does not accept the certificate"},
		{"kind not served", patches(404, refusing(404, "NotFound", "the server could not find the requested resource")), "could not find the requested resource", "is its CustomResourceDefinition there, and established?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &faulty{answer: test.answer}
			r := newFaulty(t, c, f)
			files := small(fmt.Sprintf("fault-%d", i))
			err := r.try(files)
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				f.answer = nil
				r.inSync(files)
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.hint) {
				t.Errorf("error %v, want %q with the hint %q", err, test.want, test.hint)
			}
		})
	}
}

// patches answers what applies an object of the test.
func patches(code int, body string) func(int, *http.Request) (int, string) {
	return func(_ int, r *http.Request) (int, string) {
		if strings.Contains(r.URL.Path, "/configmaps/fault-") && r.Method == http.MethodPatch {
			return code, body
		}
		return 0, ""
	}
}

// try plans and executes, and returns the first error of both.
func (r *run) try(f tree) error {
	r.t.Helper()
	desired := f.read(r.t)
	observed, err := r.client.Observe(r.t.Context(), desired)
	if err != nil {
		return err
	}
	if observed.Trials, err = r.client.Trials(r.t.Context(), kubeplan.Trials(desired, observed)); err != nil {
		return err
	}
	p := kubeplan.Make(desired, observed, plan.Consent{AllowDestroy: true})
	if err := errors.Join(p.Problems(), p.Edited()); err != nil {
		return err
	}
	return r.execute(p)
}

// TestKilledAnywhere ends a run before and after each of its first writes. The
// next run makes what is left, and nothing is left over.
func TestKilledAnywhere(t *testing.T) {
	if os.Getenv(talosenv.Full) == "" {
		t.Skip("60 runs: only where " + talosenv.Full + " is set")
	}
	c := kubeenv.Start(t)
	forget(t, c)
	f := &faulty{}
	r := newFaulty(t, c, f)
	r.client.conn.patience = 0
	r.client.conn.clock = newPatientClock()
	for n := 1; n <= 15; n++ {
		for _, how := range []int{hangUp, doAndHangUp} {
			ctx, kill := context.WithCancel(t.Context())
			f.writes = 0
			f.answer = func(at int, r *http.Request) (int, string) {
				if at == n && r.Method != http.MethodGet {
					kill()
					return how, ""
				}
				return 0, ""
			}
			// Every second run has less: there is something to delete then.
			files := killTree(n%2 == 0)
			r.before = func(context.Context) error { return ctx.Err() }
			err := r.try(files)
			f.answer, r.before = nil, nil
			kill()
			if err == nil && f.writes >= n {
				t.Errorf("killed at write %d, and there is no error", n)
			}
			if err := r.try(files); err != nil {
				t.Fatalf("after a kill at write %d: %v", n, err)
			}
			r.inSync(files)
			r.noOrphans(files)
		}
	}
}

// killTree is a tree with objects of all stages but those of Flux.
func killTree(less bool) tree {
	files := everyKind("killed")
	if less {
		documents := strings.Split(files["bootstrap/cilium/manifests.yaml"], "\n---\n")
		files["bootstrap/cilium/manifests.yaml"] = strings.Join(slices.DeleteFunc(documents, func(d string) bool {
			return strings.Contains(d, "kind: Service,") || strings.Contains(d, "kind: Role,") || strings.Contains(d, "kind: CronJob")
		}), "\n---\n")
	}
	return files
}

// noOrphans fails if talosgen made something that is neither in Git nor in its
// inventory.
func (r *run) noOrphans(f tree) {
	r.t.Helper()
	wanted := map[kubeplan.ID]bool{}
	for _, item := range f.read(r.t).Items {
		wanted[item.ID()] = true
	}
	for id := range r.observe(killTree(false).read(r.t)).Objects {
		if !wanted[id] {
			r.t.Errorf("%s is left over", id)
		}
	}
}

// A stage that does not become ready says what is stuck, with its last events:
// here the controllers cannot make pods, and say so of the ReplicaSet.
func TestStuck(t *testing.T) {
	c := kubeenv.Start(t)
	forget(t, c)
	r := newRun(t, c)
	const path = "/apis/apps/v1/namespaces/kube-public/deployments/stuck"
	t.Cleanup(func() { c.Delete(t, path) })
	r.waits.Stage = 5 * time.Second
	files := tree{"bootstrap/ccm/a.yaml": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: stuck, namespace: kube-public}, spec: {selector: {matchLabels: {app: stuck}}, template: {metadata: {labels: {app: stuck}}, spec: {serviceAccountName: missing, containers: [{name: c, image: 'example.org/none'}]}}}}"}
	r.client.conn.clock = newTestClock()
	wants(t, r.try(files), "Deployment.apps/kube-public/stuck: is not ready after 5s: ", "", diag.NotReady)
	c.WaitFor(t, "/api/v1/namespaces/kube-public/events", func(o kubeenv.Object) bool {
		text, _ := json.Marshal(o)
		return strings.Contains(string(text), "FailedCreate")
	}, within)
	// With something else to do it is waited for again: what comes later needs it.
	t.Cleanup(func() { c.Delete(t, "/api/v1/namespaces/kube-public/configmaps/stuck") })
	files["bootstrap/ccm/b.yaml"] = "{apiVersion: v1, kind: ConfigMap, metadata: {name: stuck, namespace: kube-public}}"
	err := r.try(files)
	wants(t, err, "Deployment.apps/kube-public/stuck: is not ready after 5s: ", "last events:\n", diag.NotReady)
	if !regexp.MustCompile(`Warning ReplicaSet/stuck-\w+: FailedCreate: Error creating: .*service account kube-public/missing`).MatchString(fmt.Sprint(err)) {
		t.Errorf("it does not say why: %v", err)
	}
	// Once it can be ready, the next run waits for it no more.
	r.client.conn.clock = newPatientClock()
	r.waits.Stage = within
	files["bootstrap/ccm/a.yaml"] = strings.Replace(files["bootstrap/ccm/a.yaml"], "spec: {selector", "spec: {replicas: 0, selector", 1)
	if err := r.try(files); err != nil {
		t.Error(err)
	}
}
