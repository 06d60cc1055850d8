package apply

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute/executetest"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// gatewayWorld is a cluster whose nodes reach the world through one of two gateways.
type gatewayWorld struct {
	*faultWorld
	calls int // of the run that goes on
}

// newGatewayWorld is one; its gateways have the SSH host keys that are given, if any.
func newGatewayWorld(t *testing.T, hostKeys ...string) *gatewayWorld {
	t.Helper()
	infra := executetest.Infrastructure(plantest.Spec{Cluster: "harbour", ControlPlanes: 1, Private: true, Standby: true, Protected: true})
	for i, key := range hostKeys {
		infra.Servers[len(infra.Servers)-len(hostKeys)+i].HostKey = key
	}
	return &gatewayWorld{faultWorld: newFaultWorld(t, faultCase{from: &infra, to: &infra, inTurn: true})}
}

// server is a server of the project; nil if there is none.
func (w *gatewayWorld) server(name string) map[string]any {
	all := w.list("servers")
	if i := slices.IndexFunc(all, func(s map[string]any) bool { return s["name"] == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// route is the address that the default route leads to; empty if there is none.
func (w *gatewayWorld) route() string {
	for _, n := range w.list("networks") {
		routes, _ := n["routes"].([]any)
		for _, r := range routes {
			if hop := r.(map[string]any); n["name"] == "harbour" && hop["destination"] == "0.0.0.0/0" {
				return hop["gateway"].(string)
			}
		}
	}
	return ""
}

// egress says why nodes do not reach the world; empty if they do.
func (w *gatewayWorld) egress() string {
	to := w.route()
	for _, s := range w.list("servers") {
		nets, _ := s["private_net"].([]any)
		for _, n := range nets {
			if n.(map[string]any)["ip"] == to && s["status"] == "running" && s["name"] != "neighbour" {
				return ""
			}
		}
	}
	return fmt.Sprintf("the route leads to %q, where no server runs", to)
}

// off switches a server off, and deleted deletes it.
func (w *gatewayWorld) off(name string) {
	if s := w.server(name); s != nil {
		w.ask(http.MethodPost, "/servers/"+itoa(s["id"].(float64))+"/actions/poweroff", "")
	}
}

func (w *gatewayWorld) deleted(name string) {
	at := "/servers/" + itoa(w.server(name)["id"].(float64))
	w.ask(http.MethodPost, at+"/actions/change_protection", `{"delete": false, "rebuild": false}`)
	w.settle()
	w.ask(http.MethodDelete, at, "")
}

// at is a run with something else in the place of one of its calls, counted from 0.
func (w *gatewayWorld) at(call int, as faultproxy.Effect) error {
	w.calls = 0
	w.always = func(answer http.ResponseWriter, r *http.Request, next http.Handler) {
		w.calls++
		if w.calls-1 == call {
			as(answer, r, next)
			return
		}
		next.ServeHTTP(answer, r)
	}
	defer func() { w.always = nil }()
	err := w.run(false)
	w.clock.Advance(time.Minute)
	w.sim.Settle()
	return err
}

// mends runs without faults, and wants all to be as desired.
func (w *gatewayWorld) mends(what string) {
	w.Helper()
	w.clock.Advance(lockLasts)
	err := w.run(false)
	w.clock.Advance(time.Minute)
	w.sim.Settle()
	if bad := w.egress(); err != nil || bad != "" {
		w.Errorf("%s, then a run without: %v, %s", what, err, bad)
	}
	if bad := w.wrong(); bad != "" {
		w.Errorf("%s: %s", what, bad)
	}
}

// TestGatewayDies: when the gateway dies that the route leads to, apply leads it to the
// other one, whichever of its calls fails. Whatever fails, there is a route in the end.
func TestGatewayDies(t *testing.T) {
	for name, dies := range map[string]func(*gatewayWorld, string){"off": (*gatewayWorld).off, "deleted": (*gatewayWorld).deleted} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newGatewayWorld(t)
			if got := w.route(); got != "10.0.64.100" {
				t.Fatalf("the route leads to %q", got)
			}
			dies(w, "harbour-nat")
			w.settle()
			dead := w.sim.Snapshot()
			if w.egress() == "" {
				t.Fatal("it is not dead")
			}
			if err := w.at(-1, nil); err != nil || w.route() != "10.0.64.101" {
				t.Fatalf("%v, and the route leads to %q", err, w.route())
			}
			for call := range w.calls {
				for effect, as := range []map[string]faultproxy.Effect{
					{"lost before": faultproxy.LostBefore(), "unavailable": faultproxy.Refuse(http.StatusServiceUnavailable, "unavailable")},
					{"lost after": faultproxy.LostAfter(), "server error": faultproxy.Refuse(http.StatusInternalServerError, "server_error")},
				}[call%2] {
					w.sim.Restore(dead)
					what := fmt.Sprintf("call %d: %s", call, effect)
					err := w.at(call, as)
					if bad := w.egress(); err == nil && bad != "" {
						t.Errorf("%s: it ended well, and %s", what, bad)
					}
					if w.route() == "" {
						t.Errorf("%s: no route is left: %v", what, err)
					}
					w.mends(what)
				}
			}
		})
	}
}

// TestGatewayInterrupted: who interrupts a run that has just taken the route away does not
// leave nodes without one.
func TestGatewayInterrupted(t *testing.T) {
	w := newGatewayWorld(t)
	w.off("harbour-nat")
	w.settle()
	s := w.session()
	p, err := w.plan(s, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	taken := false
	w.always = func(answer http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(answer, r)
		if strings.HasSuffix(r.URL.Path, "/delete_route") {
			taken = true
			interrupt()
		}
	}
	_, err = s.Apply(ctx, p, w.agreed(), Owner{Name: "ann@desk", Run: "run-x"})
	w.always = nil
	w.settle()
	if !taken || err == nil || w.route() != "10.0.64.101" {
		t.Errorf("taken away: %t; it ended with %v, and the route leads to %q", taken, err, w.route())
	}
}

// TestGatewayDiesMeanwhile: at each call of a run that leads the route from one gateway to
// the other, that one dies too. The next run mends it.
func TestGatewayDiesMeanwhile(t *testing.T) {
	w := newGatewayWorld(t)
	w.off("harbour-nat")
	w.settle()
	dead := w.sim.Snapshot()
	if err := w.at(-1, nil); err != nil {
		t.Fatal(err)
	}
	for call := range w.calls {
		w.sim.Restore(dead)
		_ = w.at(call, faultproxy.Before(func() { w.off("harbour-nat-2") })) // how it ends depends on when it was seen
		w.mends(fmt.Sprint("at call ", call))
	}
}

// TestGatewayStays: the route stays with a gateway that is well, and a project that cannot
// be read moves nothing.
func TestGatewayStays(t *testing.T) {
	w := newGatewayWorld(t)
	w.off("harbour-nat")
	w.settle()
	if err := w.at(-1, nil); err != nil || w.route() != "10.0.64.101" {
		t.Fatalf("%v, and the route leads to %q", err, w.route())
	}
	w.sim.ResetCalls()
	if err := w.at(-1, nil); err != nil || w.route() != "10.0.64.101" {
		t.Fatalf("both are well: %v, and the route leads to %q", err, w.route())
	}
	if i := slices.IndexFunc(w.sim.Calls(), func(c hetznersim.Call) bool {
		return strings.HasPrefix(c.Path, "/networks/") && c.Method != http.MethodGet
	}); i >= 0 {
		t.Errorf("both are well, and it made the call %v", w.sim.Calls()[i])
	}
	for _, status := range []int{http.StatusInternalServerError, http.StatusNotFound} {
		w.always = func(answer http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodGet && r.URL.Path == "/v1/servers" {
				faultproxy.Refuse(status, "server_error")(answer, r, next)
				return
			}
			next.ServeHTTP(answer, r)
		}
		if err := w.run(false); err == nil {
			t.Errorf("%d: servers cannot be read, and it ended well", status)
		}
		w.always = nil
		if w.route() != "10.0.64.101" {
			t.Errorf("%d: the route leads to %q", status, w.route())
		}
	}
}
