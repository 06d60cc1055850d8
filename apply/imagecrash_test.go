package apply

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// mortal is the connection of a run that may be killed: then nothing of it
// arrives any more.
type mortal struct{ dead atomic.Bool }

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.dead.Load() {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: errors.New("the process is dead")}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestApplyWithImagesCrashAnywhere: a run of apply that makes images and servers
// dies at any of its calls; the next one ends with one snapshot for each
// architecture, its servers, and nothing else.
func TestApplyWithImagesCrashAnywhere(t *testing.T) {
	pace := 1
	if testing.Short() {
		pace = 17 // a sample; CI tries them all
	}
	b := newImageBench(t)
	before := b.sim.Snapshot()
	b.finish("1")
	calls := len(b.sim.Calls())
	t.Logf("%d calls", calls)
	for _, when := range []hetznersim.When{hetznersim.BeforeEffect, hetznersim.AfterEffect} {
		for k := 1; k <= calls; k += pace {
			b.settle()
			b.sim.Restore(before)
			b.sim.ResetCalls()
			b.die(hetznersim.Fault{Call: k, When: when, As: hetznersim.Drop()})
			b.clock.Advance(15 * time.Minute) // its lock has expired
			b.finish("2")
			b.clean(k)
			if t.Failed() {
				t.Fatalf("call %d, %d:\n%v", k, when, b.sim.Calls())
			}
		}
	}
}

// die runs apply until a fault strikes.
func (b *imageBench) die(f hetznersim.Fault) {
	b.t.Helper()
	life := &mortal{}
	ctx, kill := context.WithCancel(b.t.Context())
	defer kill()
	f.Then = func() { life.dead.Store(true); kill() }
	b.sim.Inject(f)
	s, err := b.env.Connect(ctx, Cloud{
		Endpoint: b.url, Token: secret.New(canaryToken), HTTP: life, Clock: b.clock, Rand: func() float64 { return 0.5 },
		Builder: Builder{Dial: b.dialWhile(life), Random: strings.NewReader(strings.Repeat("d", 1000))},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if p, err := s.Plan(ctx, Policy{}); err == nil {
		_, _ = s.Apply(ctx, p, Policy{}, Owner{Name: "ann@desk", Run: "1"}) // the next run tells
	}
	b.settle()
	b.sim.ClearFaults()
}

// dialWhile connects to machines while a run lives.
func (b *imageBench) dialWhile(life *mortal) image.Dialer {
	return func(ctx context.Context, address string) (net.Conn, error) {
		if life.dead.Load() {
			return nil, errors.New("the process is dead")
		}
		return b.machines.Dial(ctx, address)
	}
}

// finish applies, and wants nothing left to do.
func (b *imageBench) finish(run string) {
	b.t.Helper()
	s := b.session()
	r, err := s.Apply(b.t.Context(), b.plan(s, Policy{}), Policy{}, Owner{Name: "bob@desk", Run: run})
	if err != nil || r.Left == nil || len(r.Left.Changes) > 0 {
		b.t.Fatalf("%v: %v", r.Left, err)
	}
}

// clean wants what infrastructure.yaml says, and nothing else.
func (b *imageBench) clean(k int) {
	b.t.Helper()
	s := b.session()
	servers, err := s.project.Servers(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, server := range servers {
		names = append(names, server.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"demo-worker-1", "demo-worker-2"}) {
		b.t.Errorf("call %d: servers %v", k, names)
	}
	uses, err := s.Images(b.t.Context(), nil, nil)
	if err != nil || len(uses) != 2 {
		b.t.Errorf("call %d: %d snapshots: %v", k, len(uses), err)
	}
	for _, what := range []string{"ssh_keys", "firewalls"} {
		if list := b.list(what); !strings.Contains(list, `"total_entries":0`) {
			b.t.Errorf("call %d: left over: %s", k, list)
		}
	}
}
