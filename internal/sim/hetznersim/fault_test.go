package hetznersim_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// TestFaults: what the client sees of each kind of fault, and whether the call
// had its effect.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fault  hetznersim.Fault
		seen   string // of the error; empty for none
		effect bool
	}{
		{"none", hetznersim.Fault{Call: 9}, "", true},
		{"dropped before", hetznersim.Fault{Call: 1}, "EOF", false},
		{"dropped after", hetznersim.Fault{Call: 1, When: hetznersim.AfterEffect}, "EOF", true},
		{"a status before", hetznersim.Fault{Method: "POST", As: hetznersim.Status(0, "unavailable", "come back later")}, "come back later (unavailable", false},
		{"a status after", hetznersim.Fault{Path: "/networks", When: hetznersim.AfterEffect, As: hetznersim.Status(502, "bad_gateway", "oh")}, "oh (bad_gateway", true},
		{"another method", hetznersim.Fault{Method: "PUT"}, "", true},
		{"another path", hetznersim.Fault{Path: "/servers/*"}, "", true},
		{"slow", hetznersim.Fault{Call: 1, As: hetznersim.Slow(time.Minute)}, "", true},
		{"no answer before", hetznersim.Fault{Call: 1, As: hetznersim.Hang()}, "context canceled", false},
		{"no answer after", hetznersim.Fault{Call: 1, When: hetznersim.AfterEffect, As: hetznersim.Hang()}, "context canceled", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, hetznersim.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if strings.HasPrefix(tt.name, "no answer") {
				tt.fault.Then = cancel
			}
			p.sim.Inject(tt.fault)
			before := p.sim.Clock().Now()
			_, _, err := p.client.Network.Create(ctx, hcloud.NetworkCreateOpts{Name: "a", IPRange: cidr("10.0.0.0/8")})
			if tt.seen == "" && err != nil || tt.seen != "" && (err == nil || !strings.Contains(err.Error(), tt.seen)) {
				t.Errorf("%v, not %q", err, tt.seen)
			}
			if took := p.sim.Clock().Now().Sub(before) > time.Minute; took != (tt.name == "slow") {
				t.Errorf("took %v", p.sim.Clock().Now().Sub(before))
			}
			p.sim.ClearFaults()
			if found := must(p.client.Network.GetByName(t.Context(), "a")) != nil; found != tt.effect {
				t.Errorf("effect: %v", found)
			}
		})
	}
}

// TestFaultsStrikeSoOften: once, so many times, always.
func TestFaultsStrikeSoOften(t *testing.T) {
	for times, want := range map[int][]int{
		0:  {503, 200, 200, 200},
		2:  {503, 503, 200, 200},
		-1: {503, 503, 503, 503},
	} {
		p := newProject(t, hetznersim.Options{})
		p.sim.Inject(hetznersim.Fault{Times: times, As: hetznersim.Status(0, "unavailable", "x")})
		for range 4 {
			_, _, _ = p.client.Location.GetByID(t.Context(), 1)
		}
		var got []int
		for _, c := range p.sim.Calls() {
			got = append(got, c.Status)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d times: %v, not %v", times, got, want)
		}
	}
}

// TestActionErrors: the call succeeds, its action does not, and what it began is
// undone.
func TestActionErrors(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	p.sim.Inject(hetznersim.Fault{Path: "/servers", As: hetznersim.ActionError("resource_unavailable", "no room")})
	made := p.server("a")
	err := p.client.Action.WaitFor(t.Context(), append(made.NextActions, made.Action)...)
	if failed := (hcloud.ActionError{}); !errors.As(err, &failed) || failed.Code != "resource_unavailable" {
		t.Errorf("%v", err)
	}
	if s := must(p.client.Server.GetByID(t.Context(), made.Server.ID)); s != nil {
		t.Errorf("a server that could not be made: %s", s.Status)
	}
	s := p.running("b")
	p.sim.Inject(hetznersim.Fault{Path: "/servers/*/actions/poweroff", As: hetznersim.ActionError("action_failed", "oh")})
	if err := p.client.Action.WaitFor(t.Context(), must(p.client.Server.Poweroff(t.Context(), s))); err == nil {
		t.Error("no error")
	}
	if s = must(p.client.Server.GetByID(t.Context(), s.ID)); s.Status != hcloud.ServerStatusRunning {
		t.Errorf("%s", s.Status)
	}
}

// TestSnapshots: what happens after a snapshot never shows in it.
func TestSnapshots(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	s := p.running("a")
	look := func() string {
		server := must(p.client.Server.GetByID(t.Context(), s.ID))
		networks := must2(p.client.Network.All(t.Context()))
		return fmt.Sprint(server.Name, server.Status, server.Labels, len(networks), p.sim.Clock().Now())
	}
	saved := p.sim.Snapshot()
	before := look()
	for range 3 {
		n := p.network("a")
		p.wait(must(p.client.Server.AttachToNetwork(t.Context(), s, hcloud.ServerAttachToNetworkOpts{Network: n})))
		p.wait(must(p.client.Server.Poweroff(t.Context(), s)))
		must(p.client.Server.Update(t.Context(), s, hcloud.ServerUpdateOpts{Name: "b", Labels: map[string]string{"x": "y"}}))
		p.wait(must(p.client.Server.DeleteWithResult(t.Context(), s)).Action)
		p.sim.Restore(saved)
		if after := look(); after != before {
			t.Fatalf("%s\nnot %s", after, before)
		}
		p.sim.Restore(saved)
	}
}

// TestEveryCallCanBeCut is what tests of apply do with the simulator: the k-th
// call is lost, for every k, from the same beginning.
func TestEveryCallCanBeCut(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	begin := p.sim.Snapshot()
	script := func(ctx context.Context) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = r.(error)
			}
		}()
		n := must(p.client.Network.Create(ctx, hcloud.NetworkCreateOpts{Name: "a", IPRange: cidr("10.0.0.0/8")}))
		must(p.client.Network.ChangeProtection(ctx, n, hcloud.NetworkChangeProtectionOpts{Delete: hcloud.Ptr(true)}))
		must(p.client.Network.GetByID(ctx, n.ID))
		return nil
	}
	k := 1
	for ; ; k++ {
		p.sim.Restore(begin)
		p.sim.ResetCalls()
		p.sim.ClearFaults()
		// Without an end of the context, Go repeats a GET whose connection is lost.
		ctx, stop := context.WithCancel(t.Context())
		p.sim.Inject(hetznersim.Fault{Call: k, When: hetznersim.AfterEffect, Then: stop})
		err := script(ctx)
		stop()
		if err == nil {
			break
		}
		if calls := p.sim.Calls(); len(calls) != k || calls[k-1].Status != 0 {
			t.Fatalf("k = %d: %v", k, calls)
		}
	}
	if k != 4 {
		t.Errorf("%d calls", k-1)
	}
}

func TestCallsAreLogged(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	must(p.client.Server.GetByName(t.Context(), "a"))
	_, _, _ = p.client.Network.Create(t.Context(), hcloud.NetworkCreateOpts{Name: "a", IPRange: cidr("8.0.0.0/8")})
	p.sim.Inject(hetznersim.Fault{})
	_, _, _ = p.client.Network.Create(t.Context(), hcloud.NetworkCreateOpts{Name: "a", IPRange: cidr("8.0.0.0/8")})
	var got []string
	for i, c := range p.sim.Calls() {
		got = append(got, c.String())
		if c.Number != i+1 || c.Time.IsZero() {
			t.Errorf("%+v", c)
		}
	}
	want := []string{"GET /servers?name=a 200", "POST /networks 422 invalid_input", "POST /networks lost"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestTokens(t *testing.T) {
	p := newProject(t, hetznersim.Options{Token: "secret", ReadOnlyToken: "reader"})
	reader := p.withToken("reader")
	must(reader.Location.GetByID(t.Context(), 1))
	_, _, err := reader.Network.Create(t.Context(), hcloud.NetworkCreateOpts{Name: "a", IPRange: cidr("10.0.0.0/8")})
	p.refused(err, hcloud.ErrorCodeForbidden)
	_, _, err = p.withToken("other").Location.GetByID(t.Context(), 1)
	p.refused(err, hcloud.ErrorCodeUnauthorized)
	if err == nil || !strings.Contains(err.Error(), "the token you have provided is invalid") {
		t.Errorf("%v", err)
	}
	got, err := http.Get(p.url + "/servers")
	if err != nil || got.StatusCode != http.StatusUnauthorized {
		t.Errorf("%v %v", got, err)
	}
}
