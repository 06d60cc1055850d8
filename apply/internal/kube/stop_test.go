package kube

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/testenv/kubeenv"
	"github.com/talosgen/talosgen/testenv/patience"
)

func TestMain(m *testing.M) { os.Exit(kubeenv.Run(m)) }

// testClock begins now, as the certificates of tests do; sleeping moves it.
type testClock struct {
	now    time.Time
	sleeps int
}

func newTestClock() *testClock { return &testClock{now: time.Now()} }

func (c *testClock) Now() time.Time { return c.now }

func (c *testClock) Sleep(ctx context.Context, d time.Duration) error {
	c.now, c.sleeps = c.now.Add(d), c.sleeps+1
	return ctx.Err()
}

// realClock is that of this machine, for what is no wait.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, _ time.Duration) error { return often(ctx) }

// patientClock is for what real programs are waited for with: a busy machine gives
// them longer. It looks more often than it is asked to.
type patientClock struct{ *patience.Clock }

func newPatientClock() patientClock { return patientClock{patience.New()} }

func (patientClock) Sleep(ctx context.Context, _ time.Duration) error { return often(ctx) }

// often waits until it is worth looking again.
func often(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
	return ctx.Err()
}

func dial(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// fakeAPI has workloads that stop some requests after they were told to.
type fakeAPI struct {
	mu        sync.Mutex
	workloads []*fakeWorkload
	log       []string       // the writes, and what was seen to be gone
	refuse    map[string]int // status by a part of the request
	server    *httptest.Server
}

type fakeWorkload struct {
	resource, name, image string
	stops                 int // reads until nothing is left; -1: never
	told                  bool
}

func newFakeAPI(t *testing.T, workloads ...*fakeWorkload) *fakeAPI {
	f := &fakeAPI{workloads: workloads}
	f.server = httptest.NewTLSServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for part, status := range f.refuse {
		if strings.Contains(r.Method+" "+r.URL.Path, part) {
			refuse(w, status, map[int]string{http.StatusNotFound: "NotFound"}[status], "not you")
			return
		}
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) == 4 {
		f.list(w, parts[3], r.URL.Query())
		return
	}
	i := slices.IndexFunc(f.workloads, func(fw *fakeWorkload) bool { return fw.resource == parts[5] && fw.name == parts[6] })
	if i < 0 {
		refuse(w, http.StatusNotFound, "NotFound", "there is none")
		return
	}
	fw := f.workloads[i]
	if r.Method == http.MethodPatch {
		body, _ := io.ReadAll(r.Body)
		f.log = append(f.log, fmt.Sprintf("%s?%s %s", strings.Join(parts[4:], "/"), r.URL.RawQuery, body))
		fw.told = true
	}
	f.answer(w, fw.object(r.Method == http.MethodGet))
	if r.Method == http.MethodGet && fw.told && fw.stops == 0 {
		f.log = append(f.log, fw.name+" is gone")
	}
}

// refuse answers as an API server does that refuses something.
func refuse(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, refusing(status, reason, message))
}

// list gives one object per page.
func (f *fakeAPI) list(w http.ResponseWriter, resource string, query url.Values) {
	var of []any
	for _, fw := range f.workloads {
		if fw.resource == resource {
			of = append(of, fw.object(false))
		}
	}
	n, metadata := 0, map[string]any{}
	fmt.Sscan(query.Get("continue"), &n)
	if n+1 < len(of) {
		metadata["continue"] = fmt.Sprint(n + 1)
	}
	f.answer(w, map[string]any{"apiVersion": "apps/v1", "kind": "List", "metadata": metadata, "items": of[min(n, len(of)):min(n+1, len(of))]})
}

func (f *fakeAPI) answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(object); err != nil {
		panic(err)
	}
}

func (w *fakeWorkload) object(read bool) map[string]any {
	left, replicas, selector := 1, 1, map[string]any{}
	if w.told {
		replicas, selector = 0, map[string]any{nowhere: "true"}
		if read && w.stops > 0 {
			w.stops--
		}
		if w.stops == 0 {
			left = 0
		}
	}
	status := map[string]any{"replicas": left}
	if w.resource == daemonSets.Resource {
		status = map[string]any{"currentNumberScheduled": 0, "numberMisscheduled": left}
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": map[string]string{"deployments": "Deployment", "daemonsets": "DaemonSet"}[w.resource],
		"metadata": map[string]any{"namespace": "ns", "name": w.name},
		"status":   status,
		"spec": map[string]any{"replicas": replicas, "template": map[string]any{"spec": map[string]any{
			"nodeSelector": selector, "containers": []any{map[string]any{"image": w.image}},
		}}},
	}
}

// client uses the certificate of the server as a client's too.
func (f *fakeAPI) client(t *testing.T, clock Clock, change ...func(*Options)) *Client {
	t.Helper()
	pair := f.server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	o := Options{
		URL: f.server.URL, Authority: public, Certificate: public, Dial: dial, Clock: clock,
		Key: secret.New(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))),
	}
	for _, c := range change {
		c(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func controllers() []*fakeWorkload {
	return []*fakeWorkload{
		{resource: daemonSets.Resource, name: "ccm", image: "mirror.example.com:5000/x/hcloud-cloud-controller-manager:v1.30.0@sha256:00", stops: 1},
		{resource: deployments.Resource, name: "web", image: "docker.io/library/cluster-autoscaler-exporter:1"},
		{resource: deployments.Resource, name: "autoscaler", image: "registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.0", stops: 3},
		{resource: deployments.Resource, name: "kustomize", image: "ghcr.io/fluxcd/kustomize-controller:v1.9.5", stops: 2},
	}
}

const (
	scaleDown = `/scale?fieldManager=talosgen {"spec":{"replicas":0}}`
	sendAway  = `?fieldManager=talosgen {"spec":{"template":{"spec":{"nodeSelector":{"talosgen.dev/stopped":"true"}}}}}`
)

func TestStopInOrder(t *testing.T) {
	f, clock := newFakeAPI(t, controllers()...), newTestClock()
	stopped, err := f.client(t, clock).StopControllers(t.Context())
	want := []string{"deployment ns/kustomize", "deployment ns/autoscaler", "daemonset ns/ccm"}
	if err != nil || !slices.Equal(stopped, want) {
		t.Errorf("stopped %q (%v), want %q", stopped, err, want)
	}
	wantLog := []string{
		"ns/deployments/kustomize" + scaleDown, "kustomize is gone",
		"ns/deployments/autoscaler" + scaleDown, "autoscaler is gone",
		"ns/daemonsets/ccm" + sendAway, "ccm is gone",
	}
	if !slices.Equal(f.log, wantLog) {
		t.Errorf("requests\n%s\nwant\n%s", strings.Join(f.log, "\n"), strings.Join(wantLog, "\n"))
	}
	if clock.sleeps != 3 {
		t.Errorf("slept %d times", clock.sleeps)
	}
	// What is stopped already is not told again.
	if stopped, err = f.client(t, clock).StopControllers(t.Context()); err != nil || len(stopped) > 0 {
		t.Errorf("the second time stopped %q (%v)", stopped, err)
	}
}

func TestStopFails(t *testing.T) {
	for _, test := range []struct {
		name    string
		fail    func(*fakeAPI, *Options)
		stopped int
		silent  bool
		want    string
	}{
		{"not allowed to list", func(f *fakeAPI, _ *Options) { f.refuse = map[string]int{"GET": 403} }, 0, false, "403 Forbidden: not you"},
		{"unknown to it", func(f *fakeAPI, _ *Options) { f.refuse = map[string]int{"GET": 401} }, 0, false, "401 Unauthorized"},
		{"broken", func(f *fakeAPI, _ *Options) { f.refuse = map[string]int{"GET": 503} }, 0, false, "503 Service Unavailable"},
		{"one cannot be scaled", func(f *fakeAPI, _ *Options) {
			f.refuse = map[string]int{"PATCH /apis/apps/v1/namespaces/ns/deployments/kustomize": 403}
		}, 2, false, "kustomize/scale: 403"},
		{"one is gone meanwhile", func(f *fakeAPI, _ *Options) {
			f.refuse = map[string]int{"PATCH /apis/apps/v1/namespaces/ns/deployments/kustomize": 404}
		}, 2, false, ""},
		{"one runs on", func(f *fakeAPI, _ *Options) { f.workloads[2].stops = -1 }, 3, false, "deployment ns/autoscaler still runs after 1m0s"},
		{"nobody listens", func(f *fakeAPI, _ *Options) { f.server.Close() }, 0, true, "connection refused"},
		{"another server", func(_ *fakeAPI, o *Options) { o.TLSName = "other.test" }, 0, false, "not other.test"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeAPI(t, controllers()...)
			c := f.client(t, newTestClock(), func(o *Options) { test.fail(f, o) })
			stopped, err := c.StopControllers(t.Context())
			if len(stopped) != test.stopped || Silent(err) != test.silent {
				t.Errorf("stopped %q, silent %v", stopped, Silent(err))
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestImageName(t *testing.T) {
	for image, want := range map[string]string{
		"cluster-autoscaler": "cluster-autoscaler",
		"registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.0": "cluster-autoscaler",
		"localhost:5000/helm-controller":                         "helm-controller",
		"a/helm-controller:v1@sha256:0123":                       "helm-controller",
	} {
		if got := imageName(image); got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}

// TestRealAPI stops controllers of a real API server, where no pods run.
func TestRealAPI(t *testing.T) {
	cluster := kubeenv.Start(t)
	workload := func(kind, name, image, more string) string {
		return "apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: default}\nspec:\n" + more +
			"  selector: {matchLabels: {app: " + name + "}}\n  template:\n    metadata: {labels: {app: " + name + "}}\n" +
			"    spec: {containers: [{name: c, image: '" + image + "'}]}\n"
	}
	const two = "  replicas: 2\n"
	cluster.Apply(t, "test", false,
		workload("Deployment", "kustomize", "ghcr.io/fluxcd/kustomize-controller:v1", two),
		workload("Deployment", "autoscaler", "registry.k8s.io/autoscaling/cluster-autoscaler:v1", two),
		workload("DaemonSet", "ccm", "docker.io/hetznercloud/hcloud-cloud-controller-manager:v1", ""),
		workload("Deployment", "web", "nginx:1", two))

	c, err := New(realOptions(t, cluster))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stopped, err := c.StopControllers(t.Context())
	want := []string{"deployment default/kustomize", "deployment default/autoscaler", "daemonset default/ccm"}
	if err != nil || !slices.Equal(stopped, want) {
		t.Errorf("stopped %q (%v), want %q", stopped, err, want)
	}
	all, err := stopper{c}.workloads(t.Context())
	if err != nil || len(all) < 4 {
		t.Fatalf("%d workloads (%v)", len(all), err)
	}
	for _, w := range all {
		if w.Namespace != "default" {
			continue // of another test
		}
		if w.none == (w.Name == "web") {
			t.Errorf("%s: told %v", w, w.none)
		}
	}
}

// realOptions are those of the cluster's kubeconfig.
func realOptions(t testing.TB, cluster *kubeenv.Cluster) Options {
	t.Helper()
	text, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	user := config.Users[0].User
	return Options{
		URL: cluster.URL, Authority: config.Clusters[0].Cluster.CA, Certificate: user.Certificate,
		Key: secret.New(string(user.Key)), Dial: dial, Clock: realClock{}, Calls: new(atomic.Int64),
	}
}

// sent is how many requests a client of [realOptions] has sent.
func (c *Client) sent() int { return int(c.conn.calls.Load()) }
