package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

const lockName = "demo-apply-lock"

// lockSite is an API whose clock is three hours ahead of that of those who use it,
// and can be away.
type lockSite struct {
	*testing.T
	clock  *testClock
	server *httptest.Server

	mu   sync.Mutex
	down bool
	lose bool   // the answer of the next write
	mute bool   // to whoever reads
	then func() // is called when an answer was lost
}

func newLockSite(t *testing.T) *lockSite {
	s := &lockSite{T: t, clock: &testClock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}}
	now := func() time.Time { return s.clock.Now().Add(3 * time.Hour) }
	api := kubesim.New("v1.36.4", now)
	s.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		down, lose := s.down || s.mute && r.Method == http.MethodGet, s.lose && r.Method != http.MethodGet
		s.lose = s.lose && !lose
		s.mu.Unlock()
		switch {
		case down:
			w.Header().Set("Date", now().UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		case lose:
			api.ServeHTTP(httptest.NewRecorder(), r)
			if s.then != nil {
				s.then()
			}
			panic(http.ErrAbortHandler)
		default:
			api.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.server.Close)
	return s
}

func (s *lockSite) client() *Client { return (&fakeAPI{server: s.server}).client(s.T, s.clock) }

func (s *lockSite) connect(context.Context) (*Client, error) { return s.client(), nil }

func (s *lockSite) set(down, lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.lose = down, lose
}

func (s *lockSite) silence(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = mute
}

func (s *lockSite) pass(d time.Duration) { _ = s.clock.Sleep(s.Context(), d) }

func (s *lockSite) acquire(owner, run string) (*Lease, error) {
	return AcquireLease(s.Context(), lockName, Holder{Owner: owner, Run: run}, s.connect)
}

func (s *lockSite) mustAcquire(owner, run string) *Lease {
	s.Helper()
	l, err := s.acquire(owner, run)
	if err != nil {
		s.Fatal(err)
	}
	return l
}

// wants wants an error that says something, or none.
func (s *lockSite) wants(err error, code diag.Code, says string) {
	s.Helper()
	if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says) || diag.CodeOf(err) != code) {
		s.Errorf("error (%d) %v, want (%d) %q", diag.CodeOf(err), err, code, says)
	}
}

// TestLease: one has it, others are told who and until when; given back, or
// expired, the next one has it.
func TestLease(t *testing.T) {
	s := newLockSite(t)
	ann := s.mustAcquire("ann@desk", "1")
	_, err := s.acquire("bob@laptop", "2")
	s.wants(err, diag.Conflict, "lock demo-apply-lock: ann@desk holds it, until 2026-11-21T15:15:00Z (in 15m0s)")
	if h, err := s.client().LeaseHolder(t.Context(), lockName); err != nil || h == nil || h.Owner != "ann@desk" || h.Run != "1" {
		t.Errorf("held by %+v (%v)", h, err)
	}
	s.wants(ann.Release(t.Context()), 0, "")
	bob := s.mustAcquire("bob@laptop", "2")
	s.pass(leaseTime + time.Second)
	ann = s.mustAcquire("ann@desk", "3")
	s.wants(bob.Keep(t.Context()), diag.Conflict, "this run does not hold it any more: ann@desk has it")
	s.wants(bob.Keep(t.Context()), diag.Conflict, "ann@desk has it") // and never again
	s.wants(bob.Release(t.Context()), 0, "")
	s.wants(ann.Keep(t.Context()), 0, "")

	if h, err := s.client().FreeLease(t.Context(), lockName); err != nil || h == nil || h.Owner != "ann@desk" {
		t.Errorf("freed from %+v (%v)", h, err)
	}
	s.pass(leaseTime / 2)
	s.wants(ann.Keep(t.Context()), diag.Conflict, "it was removed")
	for _, observe := range []func() (*Holder, error){
		func() (*Holder, error) { return s.client().LeaseHolder(t.Context(), lockName) },
		func() (*Holder, error) { return s.client().FreeLease(t.Context(), lockName) },
		func() (*Holder, error) { return s.client().FreeLease(t.Context(), "another-apply-lock") },
	} {
		if h, err := observe(); err != nil || h != nil {
			t.Errorf("held by %+v (%v)", h, err)
		}
	}
}

// TestLeaseKeeps: it is renewed after a third of its time, lives through an API
// that is away for a while, and is not trusted once it could have expired.
func TestLeaseKeeps(t *testing.T) {
	s := newLockSite(t)
	l := s.mustAcquire("ann@desk", "1")
	for range 10 { // for longer than it lasts
		s.pass(leaseTime / 2)
		s.wants(l.Keep(t.Context()), 0, "")
	}
	s.set(true, false)
	s.pass(leaseTime / 2)
	s.wants(l.Keep(t.Context()), 0, "")
	s.set(false, false)
	s.wants(l.Keep(t.Context()), 0, "")
	_, err := s.acquire("bob@laptop", "2")
	s.wants(err, diag.Conflict, "(in 15m0s)")

	// Nobody has taken it, though it has expired: it is the same run's still.
	s.pass(2 * leaseTime)
	s.wants(l.Keep(t.Context()), 0, "")

	s.set(true, false)
	s.pass(leaseTime - leaseMargin)
	s.wants(l.Keep(t.Context()), diag.Conflict, "it could not be renewed before it expired")
	s.wants(l.Release(t.Context()), 0, "")
	_, err = s.acquire("bob@laptop", "2")
	if !Unavailable(err) {
		t.Errorf("an API that is away: %v", err)
	}
}

// TestLeaseNotReleased: who cannot give the lock back is told until when it keeps
// others out, unless it has expired.
func TestLeaseNotReleased(t *testing.T) {
	s := newLockSite(t)
	for passed, want := range map[time.Duration]time.Duration{
		0: leaseTime, leaseTime - time.Second: time.Second, leaseTime: 0,
	} {
		l := s.mustAcquire("ann@desk", "1")
		s.set(true, false)
		s.pass(passed)
		err := l.Release(t.Context())
		var kept *NotReleased
		if is := errors.As(err, &kept); is != (want > 0) || !is && err != nil {
			t.Errorf("%s after it was taken: %v", passed, err)
		} else if left := l.client.ServerTime(); is && (kept.Expires.Sub(left) != want || !strings.Contains(err.Error(), kept.Expires.Format(time.RFC3339))) {
			t.Errorf("%s after it was taken it expires in %s, want %s: %v", passed, kept.Expires.Sub(left), want, err)
		}
		s.set(false, false)
	}

	// What was written last may have come to pass, though nobody said so.
	l := s.mustAcquire("ann@desk", "1")
	l.live.Spec.HolderIdentity = nil
	s.set(true, false)
	var kept *NotReleased
	if err := l.Release(t.Context()); !errors.As(err, &kept) || !kept.Expires.Equal(l.client.ServerTime().Add(leaseTime)) {
		t.Errorf("not known whether it was taken: %v", err)
	}
}

// TestLeaseLostAnswers: whose answer was lost has the lock all the same.
func TestLeaseLostAnswers(t *testing.T) {
	s := newLockSite(t)
	s.set(false, true)
	l, err := s.acquire("ann@desk", "1")
	if err != nil { // the client of this test has no patience
		l = s.mustAcquire("ann@desk", "1")
	}
	s.pass(leaseTime / 2)
	s.set(false, true)
	s.wants(l.Keep(t.Context()), 0, "")
	s.wants(l.Keep(t.Context()), 0, "")

	// Nor does it matter if nobody can say at once whose it is.
	s.pass(leaseTime / 2)
	s.set(false, true)
	s.wants(l.Keep(t.Context()), 0, "")
	s.silence(true)
	s.wants(l.Keep(t.Context()), 0, "")
	s.silence(false)
	s.wants(l.Keep(t.Context()), 0, "")

	// It is given back, too: the next run need not wait until it expires.
	s.pass(leaseTime / 2)
	s.set(false, true)
	s.wants(l.Keep(t.Context()), 0, "")
	s.wants(l.Release(t.Context()), 0, "")
	s.wants(s.mustAcquire("bob@laptop", "2").Release(t.Context()), 0, "")
}

// TestLeaseInterrupted: whoever is interrupted just as the lock is given to them
// does not keep it.
func TestLeaseInterrupted(t *testing.T) {
	s := newLockSite(t)
	for range 2 { // the first time there is none yet
		ctx, interrupt := context.WithCancel(t.Context())
		s.set(false, true)
		s.then = interrupt
		if _, err := AcquireLease(ctx, lockName, Holder{Owner: "ann@desk", Run: "1"}, s.connect); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		s.wants(s.mustAcquire("bob@laptop", "2").Release(t.Context()), 0, "")
	}
}

// TestLeaseRace: of many who want it at once, one has it.
func TestLeaseRace(t *testing.T) {
	s := newLockSite(t)
	var all sync.WaitGroup
	won := make(chan int, 8)
	for n := range cap(won) {
		client := s.client()
		all.Go(func() {
			connect := func(context.Context) (*Client, error) { return client, nil }
			_, err := AcquireLease(t.Context(), lockName, Holder{Owner: "x", Run: fmt.Sprint(n)}, connect)
			var p *diag.Problem
			if err == nil {
				won <- n
			} else if !errors.As(err, &p) || p.Code != diag.Conflict {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Errorf("%d have it", len(won))
	}
}

// TestRealLease: a real API server takes it too.
func TestRealLease(t *testing.T) {
	cluster := kubeenv.Start(t)
	o := realOptions(t, cluster)
	connect := func(context.Context) (*Client, error) { return New(o) }
	l, err := AcquireLease(t.Context(), lockName, Holder{Owner: "ann@desk", Run: "1"}, connect)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := AcquireLease(t.Context(), lockName, Holder{Owner: "bob@laptop", Run: "2"}, connect); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("held twice: %v", err)
	}
	if err := l.write(t.Context()); err != nil {
		t.Errorf("renew: %v", err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Errorf("release: %v", err)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if h, err := c.LeaseHolder(t.Context(), lockName); err != nil || h != nil {
		t.Errorf("held by %+v (%v)", h, err)
	}
}
