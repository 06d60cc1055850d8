package kube

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

const (
	// minuteBudget is how many requests a run may make in a minute in the worst case. One
	// without faults makes half of them in its first one, as it waits for nothing.
	minuteBudget = 200
	// runBudget is the same in a whole run.
	runBudget = 500
	// longestRun is how long a run takes at most that never gets on: a wait for a stage,
	// and for objects that were to go.
	longestRun = 15 * time.Minute
)

// worstCases are what can go on for as long as a run. Locks are left alone, unless it is
// about them: else a run would end before it begins.
var worstCases = []struct {
	name string
	as   func(w *faultWorld) faultproxy.Effect
}{
	{"nothing", func(*faultWorld) faultproxy.Effect { return nil }},
	{"API away", always(func(*http.Request) bool { return true }, faultproxy.Away())},
	{"always 429", always(func(*http.Request) bool { return true }, refuseAlways(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 0))},
	{"changes always 429", always(isChange, refuseAlways(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 0))},
	{"changes always 429 with a pause", always(isChange, refuseAlways(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 7))},
	{"changes always an error", always(isChange, refuseAlways(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0))},
	{"changes always overtaken", always(isChange, refuseAlways(http.StatusConflict, metav1.StatusReasonConflict, 0))},
	{"changes always refused", always(isChange, refuseAlways(http.StatusForbidden, metav1.StatusReasonForbidden, 0))},
	{"changes lost", always(isChange, faultproxy.LostBefore())},
	{"answers to changes lost", always(isChange, faultproxy.LostAfter())},
	{"lists always expired", always(func(r *http.Request) bool { return r.URL.Query().Has("limit") }, expired)},
	{"lock always taken by others", always(isLock, refuseAlways(http.StatusConflict, metav1.StatusReasonConflict, 0))},
	{"locks away", always(isLock, faultproxy.Away())},
	{"reads that never change", func(w *faultWorld) faultproxy.Effect { return faultproxy.Stale(24*time.Hour, w.clock.Now) }},
	{"nothing becomes ready", func(w *faultWorld) faultproxy.Effect { w.clock.pass = func() {}; return nil }},
	{"nothing is ever gone", func(w *faultWorld) faultproxy.Effect {
		return always(func(r *http.Request) bool { return r.Method == http.MethodDelete }, pretend)(w)
	}},
}

// isChange reports whether a request changes anything but a lock.
func isChange(r *http.Request) bool {
	return r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == "" && !strings.Contains(r.URL.Path, "/leases")
}

// isLock reports whether a request changes a lock.
func isLock(r *http.Request) bool {
	return r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/leases")
}

// always lets an effect strike the requests that fit.
func always(fits func(*http.Request) bool, as faultproxy.Effect) func(*faultWorld) faultproxy.Effect {
	return func(*faultWorld) faultproxy.Effect {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if fits(r) {
				as(w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		}
	}
}

// refuseAlways answers as an API server does that refuses something, and may say when
// to ask again.
func refuseAlways(status int, reason metav1.StatusReason, seconds int) faultproxy.Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if seconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
		refuse(w, status, string(reason), "not now")
	}
}

// expired gives lists a first page, and no second one.
func expired(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.URL.Query().Has("continue") {
		refuseAlways(http.StatusGone, metav1.StatusReasonExpired, 0)(w, r, next)
		return
	}
	faultproxy.Edit(func(body map[string]any) {
		if metadata, is := body["metadata"].(map[string]any); is && body["items"] != nil {
			metadata["continue"] = "1"
		}
	})(w, r, next)
}

// pretend says that something is done that is not.
func pretend(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	answer(w, `200 {"kind":"Status","apiVersion":"v1","status":"Success"}`)
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

// TestRequestBudget: whatever goes on as long as a run, it keeps its pace and its lock,
// and ends.
func TestRequestBudget(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := newFaultWorld(t, c)
			for _, worst := range worstCases {
				w := before.again()
				w.times, w.always = nil, worst.as(w)
				err := w.run(w.to)
				took := slices.MaxFunc(w.times, time.Time.Compare).Sub(w.times[0])
				slices.SortFunc(w.times, time.Time.Compare)
				minute := busiest(w.times, time.Minute)
				t.Logf("%s: %d requests in %s, %d in a minute; %s", worst.name, len(w.times), took, minute, ended(err))
				if minute > minuteBudget || len(w.times) > runBudget || took > longestRun {
					t.Errorf("%s: %d requests in %s, %d in a minute", worst.name, len(w.times), took, minute)
				}
				if err != nil && strings.Contains(err.Error(), "does not hold it any more") && worst.name != "locks away" {
					t.Errorf("%s: the lock was not renewed: %v", worst.name, err)
				}
			}
		})
	}
}
