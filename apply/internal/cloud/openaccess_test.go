package cloud

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// stays is access that an operator opens for an hour.
func stays() Access {
	a := operator
	a.Lasts, a.Stays = time.Hour, true
	return a
}

// TestOpenAccess: what an operator has opened outlives runs until it expires, by the
// time of Hetzner, and is read as it was opened.
func TestOpenAccess(t *testing.T) {
	s := simulate(t)
	c := s.client(0)
	if _, err := c.OpenSession(t.Context(), who("alice"), stays()); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(59 * time.Minute)
	if removed, err := c.CollectSessions(t.Context(), "prod", nil, false); err != nil || len(removed) > 0 {
		t.Errorf("removed %q, %v", removed, err)
	}
	found, err := c.Accesses(t.Context(), "prod")
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	text := found[0].String()
	if found[0].Expired || !strings.HasPrefix(text, "ports 6443, 50000 for 2001:db8::/64, 203.0.113.7/32, open until ") || !strings.HasSuffix(text, ", by alice-laptop") {
		t.Errorf("%q, expired: %v", text, found[0].Expired)
	}
	s.clock.Advance(2 * time.Minute)
	if found, err = c.Accesses(t.Context(), "prod"); err != nil || !found[0].Expired || !strings.Contains(found[0].String(), "still open, though only until") {
		t.Errorf("%v, %v", found, err)
	}
	if removed, err := c.CollectSessions(t.Context(), "prod", nil, false); err != nil || !slices.Equal(removed, []string{"prod-session-alice"}) {
		t.Errorf("removed %q, %v", removed, err)
	}
}

// TestCloseAccess: an owner closes what is theirs, and what has expired; access of
// runs that live, of others, and of other clusters stays.
func TestCloseAccess(t *testing.T) {
	s := simulate(t)
	c := s.client(0)
	open := func(run Run, a Access) {
		t.Helper()
		if _, err := c.OpenSession(t.Context(), run, a); err != nil {
			t.Fatal(err)
		}
	}
	open(who("dead"), operator)
	s.clock.Advance(sessionTime)
	alice, bob := who("alice"), who("bob")
	again := alice
	again.ID = "again"
	open(alice, stays())
	open(again, stays())
	open(bob, stays())
	open(who("run"), operator)
	open(Run{Cluster: "prod-2", Owner: alice.Owner, ID: "other"}, stays())
	closed, err := c.CloseAccess(t.Context(), "prod", alice.Owner, "prod-session-again")
	if left := firewalls(t, c); err != nil || len(closed) != 2 || !slices.Equal(left, []string{"prod-session-again", "prod-session-bob", "prod-session-run", "prod-2-session-other"}) {
		t.Errorf("closed %v, %v, left %q", closed, err, left)
	}
	if _, err = c.CloseAccess(t.Context(), "prod", "", ""); err != nil {
		t.Error(err)
	}
	if left := firewalls(t, c); !slices.Equal(left, []string{"prod-session-run", "prod-2-session-other"}) {
		t.Errorf("all: left %q", left)
	}
}

// TestOpenAccessLostAnswers: a lost answer, whenever, leaves access that is known, or
// none; and once it has expired, none.
func TestOpenAccessLostAnswers(t *testing.T) {
	for _, path := range []string{"/firewalls", "/firewalls/*/actions/remove_from_resources"} {
		for name, as := range map[string]faultproxy.Effect{"lost": faultproxy.LostAfter(), "page": faultproxy.Page(http.StatusBadGateway)} {
			t.Run(name+" "+path, func(t *testing.T) {
				s, proxy := behind(t)
				c := s.client(0)
				proxy.Inject(faultproxy.Fault{Method: http.MethodPost, Path: path, As: as})
				_, _ = c.OpenSession(t.Context(), who("alice"), stays())
				_, _ = c.CloseAccess(t.Context(), "prod", who("alice").Owner, "")
				s.clock.Advance(2 * time.Hour)
				_, err := c.CollectSessions(t.Context(), "prod", nil, false)
				if left := firewalls(t, c); err != nil || len(left) > 0 {
					t.Errorf("%v, left %q", err, left)
				}
			})
		}
	}
}
