package faultmachine

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// bed is a project with a server and a firewall of a cluster behind a machine.
type bed struct {
	*testing.T
	clock   *hetznersim.ScriptedClock
	sim     *hetznersim.Sim
	machine *Machine
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{T: t, clock: hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	b.sim = hetznersim.New(hetznersim.Options{Clock: b.clock})
	b.machine = New(b.sim)
	for path, body := range map[string]string{
		"/servers":          `{"name": "a", "server_type": "cx23", "image": "debian-13", "labels": {"managed-by": "talosgen"}}`,
		"/firewalls":        `{"name": "a", "labels": {"managed-by": "talosgen"}, "rules": [{"direction": "in", "protocol": "icmp", "source_ips": ["0.0.0.0/0"]}]}`,
		"/placement_groups": `{"name": "a", "type": "spread", "labels": {"managed-by": "talosgen", "fleeting": "1"}}`,
	} {
		if status, text := b.ask(http.MethodPost, path, body); status != http.StatusCreated {
			t.Fatal(path, status, text)
		}
	}
	b.clock.Advance(time.Hour)
	return b
}

// ask makes a request through the machine; status 0 if there is no answer.
func (b *bed) ask(method, path, body string) (status int, text string) {
	defer func() {
		if gone := recover(); gone != nil && gone != http.ErrAbortHandler {
			panic(gone)
		}
	}()
	r := httptest.NewRequest(method, "/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+b.sim.Token())
	w := httptest.NewRecorder()
	b.machine.ServeHTTP(w, r)
	all, err := io.ReadAll(w.Body)
	if err != nil {
		b.Fatal(err)
	}
	return w.Code, w.Header().Get("Date") + " " + string(all)
}

// TestEveryKindStrikes: each kind makes a difference to a call that it fits: to the
// answer, to the time that it takes, or to what is there.
func TestEveryKindStrikes(t *testing.T) {
	calls := []struct{ method, path, body string }{
		{http.MethodGet, "/servers?label_selector=managed-by%3Dtalosgen", ""},
		{http.MethodGet, "/placement_groups", ""},
		{http.MethodPost, "/servers", `{"name": "b", "server_type": "cx23", "image": "debian-13"}`},
		{http.MethodDelete, "/placement_groups/1", ""},
	}
	struck := map[string]bool{}
	for _, k := range Grammar() {
		for _, c := range calls {
			path, _, _ := strings.Cut(c.path, "?")
			operation := Operation(c.method, path)
			if !k.Fits(operation) || struck[k.Name] {
				continue
			}
			calm, wild := newBed(t), newBed(t)
			wild.machine.Begin(faultgrammar.Schedule{k.On(operation)})
			want, got := calm.history(c.method, c.path, c.body), wild.history(c.method, c.path, c.body)
			if n := wild.machine.End(); n == 0 {
				t.Errorf("%s on %s: it did not strike", k.Name, operation)
			}
			struck[k.Name] = struck[k.Name] || !reflect.DeepEqual(want, got)
		}
		if !struck[k.Name] && fitsOne(k, calls[0].method+" /servers", "POST /servers", "GET /placement_groups", "DELETE /placement_groups/*") {
			t.Errorf("%s makes no difference", k.Name)
		}
	}
}

// named is the kind of a name.
func named(kind string) Kind {
	return kinds[slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == kind })]
}

func fitsOne(k Kind, operations ...string) bool { return slices.ContainsFunc(operations, k.Fits) }

// history is what a call and those after it see: a call, the same a moment after
// something new was made, and what is there later.
func (b *bed) history(method, path, body string) (seen []any) {
	status, text := b.ask(method, path, body)
	seen = append(seen, status, text, b.clock.Now())
	b.machine.call(http.MethodPost, "/v1/servers", `{"name": "late", "server_type": "cx23", "image": "debian-13", "labels": {"managed-by": "talosgen"}}`)
	status, text = b.ask(method, path, body)
	seen = append(seen, status, text)
	b.clock.Advance(time.Minute)
	seen = append(seen, b.machine.call(http.MethodGet, "/v1/servers", ""))
	b.clock.Advance(10 * time.Minute)
	seen = append(seen, b.machine.call(http.MethodGet, "/v1/servers", ""), b.machine.call(http.MethodGet, "/v1/firewalls", ""),
		b.machine.call(http.MethodGet, "/v1/placement_groups", ""))
	return seen
}

// TestRandom: a seed is always the same schedule; together they have each kind and
// one to three faults.
func TestRandom(t *testing.T) {
	operations := map[string]int{"GET /servers": 3, "POST /servers": 4, "DELETE /servers/*": 1, "POST /servers/*/actions/change_type": 1,
		"POST /firewalls": 1, "DELETE /firewalls/*": 2, "POST /load_balancers/*/actions/add_target": 2}
	kinds, lengths := map[string]bool{}, map[int]bool{}
	for seed := range uint64(2000) {
		s := Grammar().Random(rand.New(rand.NewPCG(seed, 1)).IntN, operations)
		if again := Grammar().Random(rand.New(rand.NewPCG(seed, 1)).IntN, operations); !reflect.DeepEqual(s, again) {
			t.Fatalf("%d: %s and %s", seed, s, again)
		}
		lengths[len(s)] = true
		for _, f := range s {
			kinds[f.Kind] = true
			if f.Operation != faultgrammar.Every && (!named(f.Kind).Fits(f.Operation) || f.Nth >= operations[f.Operation]) {
				t.Errorf("%d: %s", seed, f)
			}
		}
	}
	if len(lengths) != 3 {
		t.Errorf("lengths %v", lengths)
	}
	for _, k := range Grammar() {
		if fitsOne(k, faultgrammar.Names(operations)...) && !kinds[k.Name] {
			t.Errorf("%s is in no schedule", k.Name)
		}
	}
}

func TestOperation(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/servers": "GET /servers", "/v1/servers/42": "GET /servers/*", "/v1/servers/42/actions/poweron": "GET /servers/*/actions/poweron",
		"/v1/zones/example.com": "GET /zones/*", "/v1/zones/7/rrsets/api/A/actions/set_records": "GET /zones/*/rrsets/*/*/actions/set_records",
	} {
		if got := Operation(http.MethodGet, path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
