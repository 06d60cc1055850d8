package apply

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/reach/reachtest"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/schemas"
)

// rescaled lets the gateways of a cluster have another type.
func (w *gatewayWorld) rescaled() {
	infra := *w.to
	infra.Servers = slices.Clone(infra.Servers)
	for i := range infra.Servers {
		if s := &infra.Servers[i]; s.Role == schemas.RoleNATGateway {
			s.Types = []string{"cpx32"}
		}
	}
	w.to, w.next = &infra, w.opened(infra)
}

// seen is a run with something else in the place of one of its calls, counted from 0, and
// when the route led to a gateway that did not run.
func (w *gatewayWorld) seen(call int, as faultproxy.Effect) (cut string, err error) {
	w.Helper()
	w.calls = 0
	w.always = func(answer http.ResponseWriter, r *http.Request, next http.Handler) {
		if w.calls++; w.calls-1 == call {
			as(answer, r, next)
		} else {
			next.ServeHTTP(answer, r)
		}
		if bad := w.egress(); bad != "" && w.route() != "" {
			cut += fmt.Sprintf("after %s %s: %s\n", r.Method, r.URL.Path, bad)
		}
	}
	defer func() { w.always = nil }()
	err = w.run(false)
	w.clock.Advance(lockLasts)
	w.sim.Settle()
	return cut, err
}

// TestGatewayRescaled: both gateways get another type. Whichever call fails, there is no
// moment at which the route leads to a gateway that is off, and the next run ends it.
func TestGatewayRescaled(t *testing.T) {
	t.Parallel()
	w := newGatewayWorld(t)
	w.rescaled()
	before := w.sim.Snapshot()
	if cut, err := w.seen(-1, nil); err != nil || cut != "" || w.route() != "10.0.64.101" {
		t.Fatalf("%v, the route leads to %q, without a way out: %s", err, w.route(), cut)
	}
	if bad := w.wrong(); bad != "" {
		t.Fatal(bad)
	}
	for call := range w.calls {
		as, effect := faultproxy.LostBefore(), "lost before"
		if call%2 == 1 {
			as, effect = faultproxy.Refuse(http.StatusInternalServerError, "server_error"), "server error"
		}
		w.sim.Restore(before)
		what := fmt.Sprintf("call %d: %s", call, effect)
		cut, err := w.seen(call, as)
		again, mended := w.seen(-1, nil)
		if cut != "" || again != "" || mended != nil {
			t.Errorf("%s: %v, then %v; without a way out: %s%s", what, err, mended, cut, again)
		}
		if bad := w.wrong(); bad != "" {
			t.Errorf("%s: %s", what, bad)
		}
	}
}

// TestGatewayAloneRescaled: one gateway alone is changed as ever, with its consent.
func TestGatewayAloneRescaled(t *testing.T) {
	w := newGatewayWorld(t)
	infra := *w.to
	network := *infra.Network
	network.Routes = slices.Clone(network.Routes)
	network.Routes[0].Standby = ""
	infra.Network, infra.Servers = &network, slices.DeleteFunc(slices.Clone(infra.Servers), func(s schemas.InfraServer) bool { return s.Name == "harbour-nat-2" })
	w.to, w.next = &infra, w.opened(infra)
	if err := w.run(false); err != nil {
		t.Fatal(err)
	}
	w.rescaled()
	p, err := w.plan(w.session(), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Changes) != 1 || p.Changes[0].Key != "server/harbour-nat" || len(p.Changes[0].Needs) > 0 || p.Changes[0].Consent != plan.ConsentPowerOff {
		t.Errorf("%s", p.Plan)
	}
}

// TestGatewayReady: a route is led to a gateway that starts only when that one answers. One
// that answered before, and does not any more, gets no route.
func TestGatewayReady(t *testing.T) {
	for name, c := range map[string]struct {
		answers int // after how many questions it answers; less than 0: never
		before  []bool
		want    string
	}{
		"it starts":              {3, []bool{true}, "led"},
		"it answers never again": {-1, []bool{true}, "exit 7"},
		"it was off before":      {3, nil, "led"},
		"it never answered":      {-1, []bool{false}, "led"},
	} {
		t.Run(name, func(t *testing.T) {
			bastion := reachtest.Start(t)
			w := newGatewayWorld(t, bastion.KnownHost(), bastion.KnownHost())
			w.rescaled()
			w.settle()
			s := w.session()
			p, err := w.plan(s, false)
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			s.connect.reach.dial = func(ctx context.Context, _ string) (net.Conn, error) {
				if asked++; c.answers < 0 || asked <= c.answers {
					return nil, errors.New("it is down")
				}
				return new(net.Dialer).DialContext(ctx, "tcp", bastion.Address)
			}
			p.Observed.Answers = nil
			for _, proven := range c.before {
				p.Observed.Answers = append(p.Observed.Answers, cloudplan.Answer{Server: int64(w.server("harbour-nat-2")["id"].(float64)), Proven: proven})
			}
			led := "not led"
			do := execute.Do[cloudplan.Change](func(context.Context, cloudplan.Change) error { led = "led"; return nil })
			ready := gatewayAsker{s.connect.reach, w.clock}.ready(p.Plan, do)
			if err := ready(t.Context(), cloudplan.Change{Kind: cloudplan.KindRoute, Action: cloudplan.Update, Name: "0.0.0.0/0"}); err != nil {
				led = fmt.Sprint("exit ", int(diag.CodeOf(err)))
			}
			if led != c.want {
				t.Errorf("it is %s after %d questions", led, asked)
			}
		})
	}
}
