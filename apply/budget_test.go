package apply

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

const (
	// hourlyBudget is how many requests a run may make in an hour in the worst case:
	// half of what Hetzner gives a project.
	hourlyBudget = 1800
	// minuteBudget is the same in a minute: a run without faults makes more than a hundred
	// in its first one.
	minuteBudget = 160
)

// worstCases are what can go on for as long as a run.
var worstCases = []struct {
	name string
	as   func(now func() time.Time) faultproxy.Effect
}{
	{"stale reads", func(now func() time.Time) faultproxy.Effect { return faultproxy.Stale(30*time.Second, now) }},
	{"reads that never change", func(now func() time.Time) faultproxy.Effect { return faultproxy.Stale(24*time.Hour, now) }},
	{"always 429", refuseAlways(http.StatusTooManyRequests, "rate_limit_exceeded", "")},
	{"changes always 429", refuseAlways(http.StatusTooManyRequests, "rate_limit_exceeded", http.MethodGet)},
	{"always conflict", refuseAlways(http.StatusConflict, "conflict", http.MethodGet)},
	{"always locked", refuseAlways(http.StatusLocked, "locked", http.MethodGet)},
	{"always refused", refuseAlways(http.StatusForbidden, "resource_limit_exceeded", http.MethodGet)},
	{"never to be had", refuseAlways(http.StatusPreconditionFailed, "resource_unavailable", http.MethodGet)},
	{"always an error", refuseAlways(http.StatusInternalServerError, "server_error", "")},
	{"changes always an error", refuseAlways(http.StatusServiceUnavailable, "unavailable", http.MethodGet)},
	{"answers to changes lost", func(func() time.Time) faultproxy.Effect {
		return except(http.MethodGet, faultproxy.LostAfter())
	}},
	{"changes lost", func(func() time.Time) faultproxy.Effect {
		return except(http.MethodGet, faultproxy.LostBefore())
	}},
}

// except lets requests of a method pass, and those about the lock: else a run would
// end before it begins.
func except(method string, as faultproxy.Effect) faultproxy.Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == method || strings.HasPrefix(r.URL.Path, "/v1/firewalls") {
			next.ServeHTTP(w, r)
			return
		}
		as(w, r, next)
	}
}

// refuseAlways refuses all requests, or all but those of a method.
func refuseAlways(status int, code, but string) func(func() time.Time) faultproxy.Effect {
	return func(func() time.Time) faultproxy.Effect {
		if but == "" {
			return faultproxy.Refuse(status, code)
		}
		return except(but, faultproxy.Refuse(status, code))
	}
}

// busiest is how many of some moments are within a time of each other.
func busiest(all []time.Time, within time.Duration) (most int) {
	from := 0
	for to := range all {
		for all[to].Sub(all[from]) >= within {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}

// TestRequestBudget: whatever goes on as long as a run, it keeps its pace, leaves half of
// the rate limit to others, keeps its lock, and ends.
func TestRequestBudget(t *testing.T) {
	for i, c := range faultCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if os.Getenv("TALOSGEN_TESTENV_FULL") != "1" && i < 6 {
				t.Skip("the level full runs all clusters")
			}
			synctest.Test(t, func(t *testing.T) {
				w := newFaultWorldAt(t, c, newBubbleClock(fixedTime))
				for _, worst := range worstCases {
					w.sim.Restore(w.before)
					w.settle()
					w.times, w.always = nil, worst.as(w.clock.Now)
					err := w.run(c.to == nil)
					w.always = nil
					begin, end := w.times[0], slices.MaxFunc(w.times, time.Time.Compare)
					minute, hour := busiest(w.times, time.Minute), busiest(w.times, time.Hour)
					t.Logf("%s: %d requests in %s, %d in a minute, %d in an hour; %s", worst.name, len(w.times), end.Sub(begin), minute, hour, said(err))
					if minute > minuteBudget || hour > hourlyBudget {
						t.Errorf("%s: %d requests in a minute, %d in an hour", worst.name, minute, hour)
					}
					if err != nil && strings.Contains(err.Error(), "does not hold it any more") {
						t.Errorf("%s: the lock was not renewed: %v", worst.name, err)
					}
				}
			})
		})
	}
}

// TestBusiest counts moments within a time.
func TestBusiest(t *testing.T) {
	var all []time.Time
	for _, s := range []int{0, 1, 59, 60, 61, 200} {
		all = append(all, fixedTime.Add(time.Duration(s)*time.Second))
	}
	if minute, hour, none := busiest(all, time.Minute), busiest(all, time.Hour), busiest(nil, time.Hour); minute != 3 || hour != 6 || none != 0 {
		t.Errorf("%d, %d and %d", minute, hour, none)
	}
}
