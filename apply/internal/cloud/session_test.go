package cloud

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

var operator = Access{
	From:    []netip.Prefix{netip.MustParsePrefix("203.0.113.7/32"), netip.MustParsePrefix("2001:db8::7/64")},
	Ports:   []string{"50000", "6443"},
	Servers: "cluster=prod",
}

func TestSession(t *testing.T) {
	s, ctx := simulate(t), context.Background()
	c := s.client(0)
	session, err := c.OpenSession(ctx, who("alice"), operator)
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := c.api.Firewall.GetByName(ctx, "prod-session-alice")
	if err != nil || f == nil {
		t.Fatalf("%v, %v", f, err)
	}
	var got []string
	for _, r := range firewallFrom(f).Rules {
		got = append(got, fmt.Sprint(r))
	}
	want := []string{
		"{session of alice-laptop in tcp 50000 [203.0.113.7/32 2001:db8::/64] []}",
		"{session of alice-laptop in tcp 6443 [203.0.113.7/32 2001:db8::/64] []}",
	}
	if selectors := firewallFrom(f).Selectors; !slices.Equal(got, want) || !slices.Equal(selectors, []string{"cluster=prod"}) {
		t.Errorf("%q for %q", got, selectors)
	}
	if err := session.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(ctx); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if left := firewalls(t, c); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSessionLostAnswers: neither a lost answer nor a refusal after it leaves somebody
// let in.
func TestSessionLostAnswers(t *testing.T) {
	const remove = "/firewalls/*/actions/remove_from_resources"
	for name, faults := range map[string][]faultproxy.Fault{
		"opened, and not found": {
			{Method: http.MethodPost, Path: "/firewalls", As: faultproxy.LostAfter()},
			{Method: http.MethodGet, Path: "/firewalls", As: faultproxy.Refuse(http.StatusForbidden, "maintenance")},
		},
		"lost before it is closed": {{Method: http.MethodPost, Path: remove, As: faultproxy.Page(http.StatusBadGateway)}},
		"lost when it is closed":   {{Method: http.MethodPost, Path: remove, As: faultproxy.LostAfter()}},
		"torn when it is closed":   {{Method: http.MethodPost, Path: remove, As: faultproxy.Empty(), Times: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s, proxy := behind(t)
			c := s.client(0)
			for _, f := range faults {
				proxy.Inject(f)
			}
			session, err := c.OpenSession(t.Context(), who("alice"), operator)
			if err == nil {
				err = session.Close(t.Context())
			} else if strings.Contains(name, "opened") {
				err = nil
			}
			if left := firewalls(t, c); err != nil || len(left) > 0 {
				t.Errorf("%v, left: %q", err, left)
			}
		})
	}
}

func firewalls(t *testing.T, c *Client) (names []string) {
	t.Helper()
	all, err := c.api.Firewall.All(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name)
	}
	return names
}

// TestCollectSessions: access of dead runs goes, that of living ones and of
// other clusters stays.
func TestCollectSessions(t *testing.T) {
	s, ctx := simulate(t), context.Background()
	c := s.client(0)
	open := func(run Run) {
		t.Helper()
		if _, err := c.OpenSession(ctx, run, operator); err != nil {
			t.Fatal(err)
		}
	}
	open(who("dead"))
	open(Run{Cluster: "prod-2", Owner: "bob", ID: "other"})
	s.clock.Advance(sessionTime + time.Second)
	open(who("alive"))
	removed, err := c.CollectSessions(ctx, "prod", nil, false)
	if err != nil || !slices.Equal(removed, []string{"prod-session-dead"}) {
		t.Errorf("removed %q, %v", removed, err)
	}
	if left := firewalls(t, c); !slices.Equal(left, []string{"prod-2-session-other", "prod-session-alive"}) {
		t.Errorf("left: %q", left)
	}
	if removed, err = c.CollectSessions(ctx, "prod", nil, true); err != nil || !slices.Equal(removed, []string{"prod-session-alive"}) {
		t.Errorf("then removed %q, %v", removed, err)
	}
}

// TestSessionSurvivesLostAnswers: there is one firewall afterwards, and it can
// be closed.
func TestSessionSurvivesLostAnswers(t *testing.T) {
	for _, when := range []hetznersim.When{hetznersim.BeforeEffect, hetznersim.AfterEffect} {
		s, ctx := simulate(t), context.Background()
		c := s.client(0)
		s.sim.Inject(hetznersim.Fault{Method: "POST", Path: "/firewalls", When: when, As: hetznersim.Drop()})
		session, err := c.OpenSession(ctx, who("alice"), operator)
		if err != nil {
			t.Fatal(err)
		}
		if there := firewalls(t, c); len(there) != 1 {
			t.Errorf("there are %q", there)
		}
		if err := session.Close(ctx); err != nil {
			t.Error(err)
		}
		if left := firewalls(t, c); len(left) != 0 {
			t.Errorf("left: %q", left)
		}
	}
}

func TestSessionForNobody(t *testing.T) {
	s := simulate(t)
	_, err := s.client(0).OpenSession(context.Background(), who("alice"), Access{Ports: []string{"6443"}})
	if err == nil || diag.CodeOf(err) != diag.Remote || len(s.sim.Calls()) != 0 {
		t.Errorf("%v", err)
	}
}
