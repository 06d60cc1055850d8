package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// turn is one turn of a watch over the gateways.
func (w *gatewayWorld) turn(watcher *Watcher) (seen *Watched, err error) {
	w.Helper()
	w.mu.Lock()
	s := w.session()
	s.env = &Environment{name: w.next.name, Infrastructure: w.next.Infrastructure, keyless: true} // its nodes are not looked at
	w.mu.Unlock()
	seen, err = watcher.Observe(w.Context(), s)
	if err == nil && seen.Decided.Does() {
		err = watcher.Heal(w.Context(), s, seen, Owner{Name: "watch", Run: fmt.Sprintf("%p", s)}, func(*Report, error) {})
	}
	return seen, errors.Join(err, s.Close(context.WithoutCancel(w.Context())))
}

// pass lets time pass.
func (w *gatewayWorld) pass(d time.Duration) {
	w.clock.Advance(d)
	w.sim.Settle()
}

// TestWatchGateway: a watch leads the route away from a gateway that is gone, and leaves
// it to people to make that one anew; a look that failed moves nothing.
func TestWatchGateway(t *testing.T) {
	w := newGatewayWorld(t)
	watcher := &Watcher{Policy: watchPolicy()}
	w.deleted("harbour-nat")
	w.settle()
	w.always = func(answer http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet && r.URL.Path == "/v1/servers" {
			faultproxy.Refuse(http.StatusInternalServerError, "server_error")(answer, r, next)
			return
		}
		next.ServeHTTP(answer, r)
	}
	if _, err := w.turn(watcher); err == nil || w.route() != "10.0.64.100" {
		t.Errorf("a look that fails: %v, and the route leads to %q", err, w.route())
	}
	w.always = nil
	seen, err := w.turn(watcher)
	w.pass(time.Minute)
	if err != nil || w.egress() != "" {
		t.Fatalf("%v, %s", err, w.egress())
	}
	if !slices.Contains(seen.Found.Left, "create server/harbour-nat") || w.server("harbour-nat") != nil {
		t.Errorf("left is %q", seen.Found.Left)
	}
	if seen, err := w.turn(watcher); err != nil || seen.Decided.Does() {
		t.Errorf("then: %v, %+v", err, seen.Decided)
	}
}

// TestWatchGatewayFlaps: gateways that are ill in turn are followed as often as a watch
// may, and no longer.
func TestWatchGatewayFlaps(t *testing.T) {
	w := newGatewayWorld(t)
	watcher := &Watcher{Policy: watchPolicy()}
	names := map[string]string{"10.0.64.100": "harbour-nat", "10.0.64.101": "harbour-nat-2"}
	moves, said, last := 0, "", w.route()
	for range 9 {
		w.off(names[w.route()])
		w.pass(time.Minute)
		seen, err := w.turn(watcher) // it switches on what is off, too
		if err != nil {
			t.Fatal(err)
		}
		said += strings.Join(seen.Decided.Notes, "\n")
		w.pass(2 * time.Minute)
		if now := w.route(); now != last {
			moves, last = moves+1, now
		}
	}
	if moves != 3 || !strings.Contains(said, "both of them flap") {
		t.Errorf("the route was moved %d times; it said\n%s", moves, said)
	}
	w.pass(time.Hour)
	if _, err := w.turn(watcher); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Minute)
	if bad := w.egress(); bad != "" {
		t.Errorf("an hour later %s", bad)
	}
}

// TestWatchGatewayTwo: of two watches that find a gateway ill, one moves the route.
func TestWatchGatewayTwo(t *testing.T) {
	w := newGatewayWorld(t)
	w.off("harbour-nat")
	w.settle()
	w.sim.ResetCalls()
	failed := make([]error, 2)
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() { _, failed[i] = w.turn(&Watcher{Policy: watchPolicy()}) })
	}
	all.Wait()
	w.pass(time.Minute)
	for _, err := range failed {
		if err != nil && diag.CodeOf(err) != diag.Conflict {
			t.Error(err)
		}
	}
	added := 0
	for _, c := range w.sim.Calls() {
		if strings.HasSuffix(c.Path, "/add_route") && c.Status < 300 {
			added++
		}
	}
	if bad := w.egress(); bad != "" || added != 1 {
		t.Errorf("%s; the route was moved %d times", bad, added)
	}
}
