package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// simulated is a project that several clients use.
type simulated struct {
	*testing.T
	sim   *hetznersim.Sim
	clock *hetznersim.ScriptedClock
	url   string
}

// simulate returns a project whose actions end at once.
func simulate(t *testing.T) *simulated {
	return simulateWith(t, hetznersim.NewClock(start), hetznersim.Instant)
}

func simulateWith(t *testing.T, clock *hetznersim.ScriptedClock, actions func(string) time.Duration) *simulated {
	return serveSim(t, clock, hetznersim.Options{Clock: clock, ActionTime: actions})
}

func serveSim(t *testing.T, clock *hetznersim.ScriptedClock, o hetznersim.Options) *simulated {
	sim := hetznersim.New(o)
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	return &simulated{t, sim, clock, server.URL + "/v1"}
}

// client returns a client whose own clock differs from Hetzner's by a while.
func (s *simulated) client(ahead time.Duration) *Client {
	return New(Options{
		Endpoint: s.url, Token: secret.New(s.sim.Token()), HTTP: http.DefaultTransport, Version: "test",
		Clock: shifted{s.clock, ahead}, Rand: func() float64 { return 1 },
	})
}

type shifted struct {
	*hetznersim.ScriptedClock
	ahead time.Duration
}

func (s shifted) Now() time.Time { return s.ScriptedClock.Now().Add(s.ahead) }

func who(name string) Run { return Run{Cluster: "prod", Owner: name + "@laptop", ID: name} }

// write makes a change, as a run does that believes to hold the lock.
func write(c *Client, name string) error {
	_, _, err := c.api.PlacementGroup.Create(context.Background(), hcloud.PlacementGroupCreateOpts{Name: name, Type: hcloud.PlacementGroupTypeSpread})
	return explain("placement group "+name, "create", err)
}

// TestTwoRuns: one has the lock, the other learns who, until when, and what to
// do; its exit code is that of a conflict.
func TestTwoRuns(t *testing.T) {
	s, ctx := simulate(t), context.Background()
	alice, bob := s.client(0), s.client(0)
	lock, err := alice.Acquire(ctx, who("alice"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = bob.Acquire(ctx, who("bob"))
	want := "lock of the cluster prod: alice-laptop holds it, until 2026-11-01T12:10:00Z (in 9m59s)\n" +
		"  wait until that run is done, or has been dead for that long"
	if fmt.Sprint(err) != want || diag.CodeOf(err) != diag.Conflict {
		t.Errorf("exit %d: %v", diag.CodeOf(err), err)
	}
	if other, err := bob.Acquire(ctx, Run{Cluster: "dev", Owner: "bob", ID: "bob"}); err != nil || other.Release(ctx) != nil {
		t.Errorf("another cluster's lock: %v", err)
	}
	if err := lock.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if holder, err := bob.Holder(ctx, "prod"); holder != nil || err != nil {
		t.Errorf("after its release it is held by %v, %v", holder, err)
	}
	if _, err = bob.Acquire(ctx, who("bob")); err != nil {
		t.Error(err)
	}
}

// TestManyRuns: of several that want an expired lock at once, one gets it.
func TestManyRuns(t *testing.T) {
	s, ctx := simulate(t), context.Background()
	if _, err := s.client(0).Acquire(ctx, who("dead")); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(lockTime + time.Second)
	var group sync.WaitGroup
	var got, refused atomic.Int32
	for i := range 8 {
		group.Go(func() {
			switch _, err := s.client(0).Acquire(ctx, who(fmt.Sprint("run", i))); {
			case err == nil:
				got.Add(1)
			case diag.CodeOf(err) == diag.Conflict:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d got it, %d were refused", got.Load(), refused.Load())
	}
}

// TestSlept: a holder that slept past its expiry writes nothing more, whether or
// not somebody took over, and whatever its own clock says.
func TestSlept(t *testing.T) {
	for _, takenOver := range []bool{false, true} {
		for _, ahead := range []time.Duration{0, -time.Hour, time.Hour} {
			t.Run(fmt.Sprint(takenOver, ahead), func(t *testing.T) {
				s, ctx := simulate(t), context.Background()
				alice, bob := s.client(ahead), s.client(0)
				lock, err := alice.Acquire(ctx, who("alice"))
				if err != nil {
					t.Fatal(err)
				}
				if err := write(alice, "before"); err != nil {
					t.Fatal(err)
				}
				s.clock.Advance(lockTime + time.Minute)
				if takenOver {
					if _, err := bob.Acquire(ctx, who("bob")); err != nil {
						t.Fatal(err)
					}
				}
				err = write(alice, "after")
				if diag.CodeOf(err) != diag.Conflict || !strings.Contains(fmt.Sprint(err), "this run does not hold it any more: it expired at 2026-11-01T12:10:00Z") {
					t.Errorf("exit %d: %v", diag.CodeOf(err), err)
				}
				if _, err := alice.Observe(ctx, schemas.Infrastructure{Cluster: "prod"}); err != nil {
					t.Errorf("it may still look: %v", err)
				}
				if err := lock.Release(ctx); err != nil {
					t.Error(err)
				}
				holder, err := bob.Holder(ctx, "prod")
				if err != nil || takenOver != (holder != nil && holder.Owner == "bob-laptop") {
					t.Errorf("then it is held by %v, %v", holder, err)
				}
			})
		}
	}
}

// TestHeldUp: what waits for the rate limit until the lock has expired is not
// sent any more.
func TestHeldUp(t *testing.T) {
	clock := hetznersim.NewClock(start)
	s := serveSim(t, clock, hetznersim.Options{Clock: clock, ActionTime: hetznersim.Instant, RateLimit: 100})
	ctx := context.Background()
	alice := s.client(0)
	lock, err := alice.Acquire(ctx, who("alice"))
	if err != nil {
		t.Fatal(err)
	}
	// What comes back, a request in 36 seconds, others take for an hour.
	s.sim.Inject(hetznersim.Fault{Times: 12, As: hetznersim.Status(429, "rate_limit_exceeded", "limit of 100 requests per hour reached")})
	if err := write(alice, "late"); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("exit %d: %v", diag.CodeOf(err), err)
	}
	if clock.Now().Before(start.Add(lockTime - lockMargin)) {
		t.Errorf("at %s already", clock.Now())
	}
	for _, c := range s.sim.Calls() {
		if c.Method != "GET" && c.Code == "" && c.Time.After(start.Add(lockTime)) {
			t.Errorf("sent at %s: %s", c.Time, c)
		}
	}
	if err := lock.Release(ctx); err != nil {
		t.Error(err)
	}
}

// TestRenewal: as long as the holder makes requests, the lock does not expire;
// it is renewed at a third of its time, not with each request.
func TestRenewal(t *testing.T) {
	s, ctx := simulate(t), context.Background()
	alice, bob := s.client(0), s.client(0)
	if _, err := alice.Acquire(ctx, who("alice")); err != nil {
		t.Fatal(err)
	}
	s.sim.ResetCalls()
	for i := range 60 {
		s.clock.Advance(time.Minute)
		if _, _, err := alice.api.Location.List(ctx, hcloud.LocationListOpts{}); err != nil {
			t.Fatalf("minute %d: %v", i, err)
		}
	}
	renewals := 0
	for _, c := range s.sim.Calls() {
		if c.Method == "PUT" {
			renewals++
		}
	}
	if renewals != 15 {
		t.Errorf("%d renewals in an hour", renewals)
	}
	if _, err := bob.Acquire(ctx, who("bob")); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("error %v", err)
	}
}

// TestUnlock: who is sure that a run is dead takes its lock away; the run
// notices before it writes.
func TestUnlock(t *testing.T) {
	s, ctx := simulate(t), context.Background()
	alice, bob := s.client(0), s.client(0)
	lock, err := alice.Acquire(ctx, who("alice"))
	if err != nil {
		t.Fatal(err)
	}
	holder, err := bob.Unlock(ctx, "prod")
	if err != nil || holder == nil || holder.Owner != "alice-laptop" || holder.Run != "alice" {
		t.Fatalf("%+v, %v", holder, err)
	}
	if holder, err := bob.Unlock(ctx, "prod"); holder != nil || err != nil {
		t.Errorf("again: %+v, %v", holder, err)
	}
	s.clock.Advance(lockTime / 2)
	err = write(alice, "after")
	if diag.CodeOf(err) != diag.Conflict || !strings.Contains(fmt.Sprint(err), "it was removed") {
		t.Errorf("exit %d: %v", diag.CodeOf(err), err)
	}
	if err := lock.Release(ctx); err != nil {
		t.Error(err)
	}
}

// TestLockName: a firewall that only has the name is not touched.
func TestLockName(t *testing.T) {
	s, ctx := simulate(t), context.Background()
	c := s.client(0)
	if _, _, err := c.api.Firewall.Create(ctx, hcloud.FirewallCreateOpts{Name: "prod-apply-lock"}); err != nil {
		t.Fatal(err)
	}
	for _, use := range []func() error{
		func() error { _, err := c.Acquire(ctx, who("alice")); return err },
		func() error { _, err := c.Unlock(ctx, "prod"); return err },
	} {
		if err := use(); diag.CodeOf(err) != diag.Conflict || !strings.Contains(fmt.Sprint(err), "the firewall prod-apply-lock is something else") {
			t.Errorf("error %v", err)
		}
	}
	if f, _, err := c.api.Firewall.GetByName(ctx, "prod-apply-lock"); f == nil || err != nil {
		t.Errorf("it is gone, %v", err)
	}
}

// TestLockSurvivesLostAnswers: the run that made the lock knows it again.
func TestLockSurvivesLostAnswers(t *testing.T) {
	for _, when := range []hetznersim.When{hetznersim.BeforeEffect, hetznersim.AfterEffect} {
		s, ctx := simulate(t), context.Background()
		s.sim.Inject(hetznersim.Fault{Method: "POST", When: when, As: hetznersim.Drop()})
		c := s.client(0)
		lock, err := c.Acquire(ctx, who("alice"))
		if err != nil {
			t.Fatal(err)
		}
		if err := write(c, "a"); err != nil {
			t.Error(err)
		}
		if err := lock.Release(ctx); err != nil {
			t.Error(err)
		}
	}
}

// interrupted ends a run as soon as the answer to a request is there, which the run
// does not get any more.
type interrupted struct {
	method string
	end    context.CancelFunc
}

// RoundTrip makes a request.
func (i interrupted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != i.method {
		return http.DefaultTransport.RoundTrip(r)
	}
	response, err := http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if err == nil {
		_ = response.Body.Close()
	}
	i.end()
	return nil, r.Context().Err()
}

// TestInterruptedAsItGetsTheLock: the lock is free afterwards, unless it is that of
// somebody else.
func TestInterruptedAsItGetsTheLock(t *testing.T) {
	s := simulate(t)
	for _, other := range []string{"", "bob"} {
		ctx, end := context.WithCancel(t.Context())
		if other != "" {
			if _, err := s.client(0).Acquire(ctx, who(other)); err != nil {
				t.Fatal(err)
			}
		}
		alice := New(Options{
			Endpoint: s.url, Token: secret.New(s.sim.Token()), HTTP: interrupted{http.MethodPost, end}, Version: "test",
			Clock: s.clock, Rand: func() float64 { return 1 },
		})
		if _, err := alice.Acquire(ctx, who("alice")); !errors.Is(err, context.Canceled) {
			t.Errorf("the interrupted run: %v", err)
		}
		holder, err := s.client(0).Holder(t.Context(), "prod")
		if err != nil || (holder == nil) != (other == "") {
			t.Errorf("beside %q, afterwards %+v has it (%v)", other, holder, err)
		}
	}
}

func TestLabelValue(t *testing.T) {
	for text, want := range map[string]string{
		"alice":                        "alice",
		"alice@laptop":                 "alice-laptop",
		"Ünï":                          "n",
		"-a b_c.":                      "a-b_c",
		strings.Repeat("a", 80):        strings.Repeat("a", 63),
		strings.Repeat("a", 62) + "-b": strings.Repeat("a", 62),
		"":                             "",
	} {
		if got := labelValue(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
