package faultproxy_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// world is a project behind a proxy.
type world struct {
	*testing.T
	clock *hetznersim.ScriptedClock
	sim   *hetznersim.Sim
	proxy *faultproxy.Proxy
	url   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, clock: hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	w.sim = hetznersim.New(hetznersim.Options{Clock: w.clock})
	w.proxy = faultproxy.New(w.sim)
	server := httptest.NewServer(w.proxy)
	t.Cleanup(server.Close)
	w.url = server.URL + "/v1"
	return w
}

// call makes a request, and returns the status, the body and the header; 0 if
// there is no answer.
func (w *world) call(method, path, body string) (int, string, http.Header) {
	w.Helper()
	request, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.sim.Token())
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0, "", nil
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		w.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

// make makes a placement group, and returns how that was answered.
func (w *world) make(name string) (int, string) {
	status, text, _ := w.call(http.MethodPost, "/placement_groups", `{"name":"`+name+`","type":"spread"}`)
	return status, text
}

// has reports whether the project has a placement group of a name.
func (w *world) has(name string) bool {
	_, text, _ := w.call(http.MethodGet, "/placement_groups", "")
	return strings.Contains(text, `"`+name+`"`)
}

func TestEffects(t *testing.T) {
	happened := 0
	do := func() { happened++ }
	for _, c := range []struct {
		name   string
		as     faultproxy.Effect
		status int
		had    bool // the request had its effect
		whole  bool // the answer is JSON
	}{
		{"lost before", faultproxy.LostBefore(), 0, false, false},
		{"lost after", faultproxy.LostAfter(), 0, true, false},
		{"empty", faultproxy.Empty(), 201, true, false},
		{"cut", faultproxy.Cut(), 201, true, false},
		{"page", faultproxy.Page(502), 502, false, false},
		{"refuse", faultproxy.Refuse(403, "forbidden"), 403, false, true},
		{"edit", faultproxy.Edit(func(b map[string]any) { b["more"] = 1 }), 201, true, true},
		{"after", faultproxy.After(do), 201, true, true},
		{"before", faultproxy.Before(do), 201, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.proxy.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/placement_*", Skip: 1, As: c.as})
			if status, _ := w.make("first"); status != 201 {
				t.Fatalf("the first is not to be struck: %d", status)
			}
			status, text := w.make("second")
			if status != c.status || json.Valid([]byte(text)) != c.whole || w.has("second") != c.had {
				t.Errorf("%d %s, had its effect: %v", status, text, w.has("second"))
			}
			if status, _ := w.make("third"); status != 201 {
				t.Errorf("it struck twice: %d", status)
			}
			if got := w.proxy.Requests(http.MethodPost, "/placement_groups"); len(got) != 3 {
				t.Errorf("requests: %v", got)
			}
		})
	}
	if happened != 2 {
		t.Errorf("called %d times", happened)
	}
}

func TestStaleAndSkewed(t *testing.T) {
	w := newWorld(t)
	w.proxy.Inject(faultproxy.Fault{Times: -1, As: faultproxy.Stale(10*time.Second, w.clock.Now)})
	if w.has("new") {
		t.Fatal("before it is made")
	}
	w.make("new")
	if w.has("new") {
		t.Error("the answer is not of before")
	}
	w.clock.Advance(11 * time.Second)
	if !w.has("new") {
		t.Error("the answer stays old")
	}
	w.proxy.Clear()
	w.proxy.Inject(faultproxy.Fault{Query: "name=", As: faultproxy.Skewed(func() time.Duration { return -time.Hour })})
	for _, c := range []struct {
		query string
		ahead time.Duration
	}{{"", 0}, {"?name=new", -time.Hour}, {"?name=new", 0}} {
		_, _, header := w.call(http.MethodGet, "/placement_groups"+c.query, "")
		if date, err := http.ParseTime(header.Get("Date")); err != nil || date.Sub(w.clock.Now()) != c.ahead {
			t.Errorf("%q: Date %s at %s (%v)", c.query, date, w.clock.Now(), err)
		}
	}
}
