package faultmachine

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// bed is an API with some objects behind a machine.
type bed struct {
	*testing.T
	clock   *hetznersim.ScriptedClock
	machine *Machine
}

const objects = "/api/v1/namespaces/default/configmaps"

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{T: t, clock: hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	b.machine = New(kubesim.New("v1.36.4", b.clock.Now), b.clock, 30*time.Second)
	b.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata": {"name": "things.example.org"}, "spec": {"group": "example.org", "scope": "Namespaced",
		"names": {"kind": "Thing", "plural": "things"}, "versions": [{"name": "v1", "served": true, "storage": true}]}}`)
	b.post("/api/v1/namespaces/kube-system/configmaps", `{"metadata": {"name": "talosgen-inventory"}}`)
	for _, name := range []string{"a", "b", "c"} {
		b.post(objects, `{"metadata": {"name": "`+name+`", "labels": {"of": "git"}}}`)
	}
	return b
}

func (b *bed) post(path, body string) {
	b.Helper()
	if _, text := b.ask(http.MethodPost, path, "application/json", body); strings.HasPrefix(text, "error") || strings.Contains(text, "Failure") {
		b.Fatal(path, text)
	}
}

// ask makes a request through the machine, and returns its status and its answer, or
// the error.
func (b *bed) ask(method, path, content, body string) (status int, text string) {
	b.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "https://api.example.org"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", content)
	r.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	answer, err := faultproxy.Direct(b.machine).RoundTrip(r)
	if err != nil {
		return 0, "error " + err.Error()
	}
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		return answer.StatusCode, "error " + err.Error()
	}
	return answer.StatusCode, answer.Header.Get("Date") + answer.Header.Get("Retry-After") + string(all)
}

// calls are one of each operation that kinds fit.
var calls = []struct{ method, path, content, body string }{
	{http.MethodGet, "/apis", "", ""},
	{http.MethodGet, objects + "?limit=250", "", ""},
	{http.MethodGet, objects + "?limit=250&continue=2", "", ""},
	{http.MethodGet, objects + "/a", "", ""},
	{http.MethodPatch, objects + "/a?fieldManager=talosgen", "application/apply-patch+yaml", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}`},
	{http.MethodPut, objects + "/a", "application/json", `{"metadata": {"name": "a"}}`},
	{http.MethodDelete, objects + "/a", "application/json", ""},
}

// history is what a call sees, what the same call sees after somebody else has made
// something, and what is there then.
func (b *bed) history(schedule faultgrammar.Schedule, i int) (seen []any, struck int) {
	b.Helper()
	b.machine.Begin(schedule)
	for range 2 {
		status, text := b.ask(calls[i].method, calls[i].path, calls[i].content, calls[i].body)
		seen = append(seen, status, text, b.clock.Now())
		b.machine.call(http.MethodPost, objects, `{"metadata": {"name": "new"}}`)
		b.machine.call(http.MethodPatch, objects+"/b", `{"metadata": {"labels": {"new": "yes"}}}`)
	}
	struck = b.machine.End()
	for _, at := range []string{objects, "/api/v1/namespaces/kube-system/configmaps"} {
		status, text := b.ask(http.MethodGet, at, "", "")
		seen = append(seen, status, text)
	}
	return seen, struck
}

// TestEveryKindStrikes: each kind makes a difference to a call that it fits: to the
// answer, to the time that it takes, or to what is there.
func TestEveryKindStrikes(t *testing.T) {
	for _, k := range Grammar() {
		differs := false
		for i, c := range calls {
			u, err := url.Parse(c.path)
			if err != nil {
				t.Fatal(err)
			}
			operation := Operation(&http.Request{Method: c.method, URL: u})
			if !k.Fits(operation) {
				continue
			}
			want, _ := newBed(t).history(nil, i)
			got, struck := newBed(t).history(faultgrammar.Schedule{k.On(operation)}, i)
			if struck == 0 {
				t.Errorf("%s on %s: it did not strike", k.Name, operation)
			}
			differs = differs || !reflect.DeepEqual(want, got)
		}
		if !differs {
			t.Errorf("%s makes no difference", k.Name)
		}
	}
}

// TestAway: while nobody serves the API no request has an effect, and then again.
func TestAway(t *testing.T) {
	b := newBed(t)
	const change = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"changed": "yes"}}`
	ask := func() string {
		_, text := b.ask(http.MethodPatch, objects+"/a?fieldManager=talosgen", "application/apply-patch+yaml", change)
		return text
	}
	b.machine.Begin(faultgrammar.Schedule{{Operation: faultgrammar.Every, Kind: "API away", Seconds: 60}})
	for range 2 {
		if text := ask(); !strings.HasPrefix(text, "error") {
			t.Errorf("an API that is away answers %s", text)
		}
		if _, object := b.machine.call(http.MethodGet, objects+"/a", ""); object["data"] != nil {
			t.Errorf("an API that is away has made it %v", object)
		}
	}
	b.clock.Advance(time.Minute)
	if text := ask(); !strings.Contains(text, `"changed"`) {
		t.Errorf("afterwards: %s", text)
	}
}

func TestOperation(t *testing.T) {
	for path, want := range map[string]string{
		"/apis": "GET /apis", "/api/v1/namespaces": "GET /api/v1/namespaces", "/api/v1/namespaces/a": "GET /api/v1/namespaces/*",
		objects: "GET /api/v1/namespaces/*/configmaps", objects + "/a": "GET /api/v1/namespaces/*/configmaps/*",
		"/apis/apps/v1/namespaces/a/deployments/b/scale": "GET /apis/apps/v1/namespaces/*/deployments/*/scale",
		"/api/v1/nodes/a": "GET /api/v1/nodes/*", objects + "/a?dryRun=All": "GET /api/v1/namespaces/*/configmaps/* (trial)",
	} {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := Operation(&http.Request{Method: http.MethodGet, URL: u}); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestWatched: who watches is noticed, since the grammar has no faults of watches.
func TestWatched(t *testing.T) {
	b := newBed(t)
	b.ask(http.MethodGet, objects, "", "")
	if got := b.machine.Watched(); len(got) > 0 {
		t.Errorf("watched %v", got)
	}
	b.ask(http.MethodGet, objects+"?watch=true", "", "")
	if got := b.machine.Watched(); !reflect.DeepEqual(got, []string{objects}) {
		t.Errorf("watched %v", got)
	}
}
