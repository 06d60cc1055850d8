package cloud

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// behind returns a project behind a proxy that lets things go wrong.
func behind(t *testing.T) (*simulated, *faultproxy.Proxy) {
	t.Helper()
	s := simulate(t)
	proxy := faultproxy.New(s.sim)
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	s.url = server.URL + "/v1"
	return s, proxy
}

// group makes a placement group, past the faults.
func (s *simulated) group(name string) {
	s.Helper()
	if _, _, err := s.direct().PlacementGroup.Create(context.Background(), hcloud.PlacementGroupCreateOpts{Name: name, Type: hcloud.PlacementGroupTypeSpread}); err != nil {
		s.Fatal(err)
	}
}

// direct is a client that no fault reaches.
func (s *simulated) direct() *hcloud.Client {
	s.Helper()
	server := httptest.NewServer(s.sim)
	s.Cleanup(server.Close)
	return hcloud.NewClient(hcloud.WithEndpoint(server.URL+"/v1"), hcloud.WithToken(s.sim.Token()))
}

// TestPagesThatShift: what is deleted, and what is made, while a list is read does
// not hide anything else, whether or not Hetzner says how long the list is.
func TestPagesThatShift(t *testing.T) {
	for _, c := range []struct {
		name         string
		remake, null bool
	}{{"one less", false, false}, {"another one", true, false}, {"nobody counts", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			s, proxy := behind(t)
			for i := range 60 {
				s.make(fmt.Sprintf("server/s-%d", i), nil, nil)
			}
			others := s.direct()
			proxy.Inject(faultproxy.Fault{Path: "/servers", Query: "page=2", As: faultproxy.Before(func() {
				first, _, err := others.Server.GetByName(context.Background(), "s-7")
				if err == nil {
					_, _, err = others.Server.DeleteWithResult(context.Background(), first)
				}
				if err != nil {
					t.Error(err)
				}
				if c.remake {
					s.make("server/new", nil, nil)
				}
			})})
			if c.null {
				proxy.Inject(faultproxy.Fault{Method: http.MethodGet, Path: "/servers", Times: -1, As: faultproxy.Edit(func(body map[string]any) {
					body["meta"].(map[string]any)["pagination"].(map[string]any)["total_entries"] = nil
				})})
			}
			api := s.client(0).api
			found, err := all(context.Background(), "servers", "", func(l hcloud.ListOpts) ([]*hcloud.Server, *hcloud.Response, error) {
				return api.Server.List(context.Background(), hcloud.ServerListOpts{ListOpts: l, Sort: oldestFirst})
			})
			if err != nil {
				t.Fatal(err)
			}
			names := convert(found, func(s *hcloud.Server) string { return s.Name })
			for i := range 60 {
				if name := fmt.Sprintf("s-%d", i); i != 7 && !slices.Contains(names, name) {
					t.Errorf("%s was missed", name)
				}
			}
		})
	}
}

// TestTornAnswers: what had its effect, and was answered without a body or with
// half of one, is looked up, or done again where that is safe.
func TestTornAnswers(t *testing.T) {
	for name, as := range map[string]faultproxy.Effect{"empty": faultproxy.Empty(), "cut": faultproxy.Cut()} {
		t.Run(name+", lock", func(t *testing.T) {
			s, proxy := behind(t)
			proxy.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/firewalls", As: as})
			lock, err := s.client(0).Acquire(t.Context(), who("alice"))
			if err != nil {
				t.Fatal(err)
			}
			if err := lock.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if left := firewalls(t, s.client(0)); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
		t.Run(name+", read", func(t *testing.T) {
			s, proxy := behind(t)
			s.group("a")
			proxy.Inject(faultproxy.Fault{Method: http.MethodGet, Path: "/placement_groups", As: as})
			if found, err := s.client(0).api.PlacementGroup.All(t.Context()); err != nil || len(found) != 1 {
				t.Errorf("%v, %v", found, err)
			}
		})
		t.Run(name+", absent", func(t *testing.T) {
			s, proxy := behind(t)
			s.sim.AddZone("example.com")
			proxy.Inject(faultproxy.Fault{Method: http.MethodGet, Path: "/zones/*/rrsets/*/*", As: as})
			_, _, err := s.client(0).api.Zone.GetRRSetByNameAndType(t.Context(), &hcloud.Zone{Name: "example.com"}, "api", hcloud.ZoneRRSetTypeA)
			if err != nil {
				t.Errorf("a record that is not there: %v", err)
			}
			if n := len(proxy.Requests(http.MethodGet, "/zones/*/rrsets/*/*")); n != 2 {
				t.Errorf("%d requests", n)
			}
		})
		t.Run(name+", made", func(t *testing.T) {
			s, proxy := behind(t)
			proxy.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/placement_groups", As: as})
			if err := write(s.client(0), "a"); !Stale(err) {
				t.Errorf("%v: a new observation is the answer", err)
			}
		})
	}
}

// TestLockThatFails: whatever the making of a lock or of session access ends with,
// nothing is left of it that keeps others out or lets somebody in.
func TestLockThatFails(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(*Client) error
	}{
		{"lock", func(c *Client) error { _, err := c.Acquire(context.Background(), who("alice")); return err }},
		{"access", func(c *Client) error {
			_, err := c.OpenSession(context.Background(), who("alice"), operator)
			return err
		}},
	} {
		t.Run(c.name+", action", func(t *testing.T) {
			s, proxy := behind(t)
			proxy.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/firewalls", Times: -1, As: faultproxy.Edit(func(body map[string]any) {
				body["actions"] = []any{map[string]any{
					"id": 1, "command": "apply_firewall", "status": "error", "progress": 100, "started": "2026-11-01T12:00:00Z", "finished": "2026-11-01T12:00:01Z",
					"resources": []any{}, "error": map[string]any{"code": "limit_reached", "message": "no"},
				}}
			})})
			if err := c.take(s.client(0)); err == nil {
				t.Error("there is no error")
			}
			if left := firewalls(t, s.client(0)); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
	t.Run("nobody can look", func(t *testing.T) {
		s, proxy := behind(t)
		proxy.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/firewalls", As: faultproxy.LostAfter()})
		proxy.Inject(faultproxy.Fault{Method: http.MethodGet, Path: "/firewalls", As: faultproxy.Refuse(http.StatusForbidden, "maintenance")})
		if _, err := s.client(0).Acquire(t.Context(), who("alice")); err == nil {
			t.Error("there is no error")
		}
		if left := firewalls(t, s.client(0)); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestStaleLock: a lock is taken though what is read lags behind.
func TestStaleLock(t *testing.T) {
	s, proxy := behind(t)
	c := s.client(0)
	if holder, err := c.Holder(t.Context(), "prod"); err != nil || holder != nil {
		t.Fatal(holder, err)
	}
	proxy.Inject(faultproxy.Fault{Times: -1, Path: "/firewalls", As: faultproxy.Stale(10*time.Second, s.clock.Now)})
	if holder, err := c.Holder(t.Context(), "prod"); err != nil || holder != nil {
		t.Fatal(holder, err)
	}
	proxy.Inject(faultproxy.Fault{Method: http.MethodPost, Path: "/firewalls", As: faultproxy.LostAfter()})
	if _, err := c.Acquire(t.Context(), who("alice")); err != nil {
		t.Error(err)
	}
}

// TestFlappingDate: a few answers with another time do not lose the lock, nor are
// they what it expires by; when all tell another time, that is believed.
func TestFlappingDate(t *testing.T) {
	s, proxy := behind(t)
	n := 0
	proxy.Inject(faultproxy.Fault{Times: -1, As: faultproxy.Skewed(func() time.Duration {
		if n++; n%3 == 2 {
			return 5 * time.Hour
		}
		return 0
	})})
	c := s.client(0)
	lock, err := c.Acquire(t.Context(), who("alice"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := write(c, fmt.Sprint("g-", i)); err != nil {
			t.Fatal(err)
		}
		if got := c.ServerTime().Sub(s.clock.Now()).Abs(); got > time.Minute {
			t.Fatalf("after %d calls: %s ahead", i, got)
		}
		s.clock.Advance(time.Minute)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	proxy.Clear()
	proxy.Inject(faultproxy.Fault{Times: -1, As: faultproxy.Skewed(func() time.Duration { return time.Hour })})
	for i := range answersHeard {
		if err := write(c, fmt.Sprint("h-", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.ServerTime().Sub(s.clock.Now()).Round(time.Minute); got != time.Hour {
		t.Errorf("all say that it is an hour later, and it is taken for %s", got)
	}
}

// TestFirstDateWrong: the first answer had the wrong time, and the next ones tell.
func TestFirstDateWrong(t *testing.T) {
	var a clockSkew
	for _, said := range []time.Duration{5 * time.Hour, time.Second, 0, time.Second} {
		a.say(said)
	}
	if a.now > time.Minute {
		t.Errorf("%s ahead", a.now)
	}
}

// TestAccessOfTheDead: session access of a run that has held the lock goes with the
// next run that holds it, that of others stays, and the own too.
func TestAccessOfTheDead(t *testing.T) {
	s, proxy := behind(t)
	c := s.client(0)
	open := func(name string, locked bool) *Session {
		a := operator
		a.Locked = locked
		session, err := c.OpenSession(t.Context(), who(name), a)
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	dead := open("dead", false)
	if err := dead.HoldsLock(t.Context()); err != nil {
		t.Fatal(err)
	}
	open("planning", false)
	own := open("own", true)
	proxy.Inject(faultproxy.Fault{Method: http.MethodDelete, Path: "/firewalls/*", Times: -1, As: faultproxy.Page(http.StatusBadGateway)})
	if err := dead.Close(t.Context()); diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "it still lets dead-laptop in") {
		t.Errorf("error %v", err)
	}
	proxy.Clear()
	removed, err := c.CollectSessions(t.Context(), "prod", own, false)
	if err != nil || !slices.Equal(removed, []string{"prod-session-dead"}) {
		t.Errorf("removed %v, %v", removed, err)
	}
}
