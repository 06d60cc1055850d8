package faultmachine

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// silent lets the client wait for as long as it does.
func silent(effect bool) func(*Machine, faultgrammar.Fault) faultproxy.Effect {
	return func(m *Machine, _ faultgrammar.Fault) faultproxy.Effect {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			faultproxy.TimedOut(effect, func() { _ = m.clock.Sleep(r.Context(), m.within) })(w, r, next)
		}
	}
}

func slow(m *Machine, f faultgrammar.Fault) faultproxy.Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if m.clock.Sleep(r.Context(), time.Duration(f.Seconds)*time.Second) == nil {
			next.ServeHTTP(w, r)
		}
	}
}

// away lets nobody serve the API for some seconds, from its first call on.
func away(m *Machine, f faultgrammar.Fault) faultproxy.Effect {
	var once sync.Once
	var until time.Time
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		once.Do(func() { until = m.clock.Now().Add(time.Duration(f.Seconds) * time.Second) })
		if m.clock.Now().Before(until) {
			faultproxy.Away()(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

func stale(m *Machine, f faultgrammar.Fault) faultproxy.Effect {
	return faultproxy.Stale(time.Duration(f.Seconds)*time.Second, m.clock.Now)
}

// pages gives lists in pages of two. One that expires does so when its second page
// is asked for, as if etcd had been compacted meanwhile.
func pages(expires bool) func(*Machine, faultgrammar.Fault) faultproxy.Effect {
	const size = 2
	return func(m *Machine, _ faultgrammar.Fault) faultproxy.Effect {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
			if from > 0 && expires {
				refusal{status: http.StatusGone, reason: metav1.StatusReasonExpired, message: "The provided continue parameter is too old"}.
					effect(m, faultgrammar.Fault{})(w, r, next)
				return
			}
			q := r.URL.Query()
			q.Del("continue")
			q.Del("limit")
			whole := r.Clone(r.Context())
			whole.URL.RawQuery = q.Encode()
			faultproxy.Edit(func(body map[string]any) {
				items, _ := body["items"].([]any)
				to := min(from+size, len(items))
				if metadata, is := body["metadata"].(map[string]any); is && to < len(items) {
					metadata["continue"] = strconv.Itoa(to)
				}
				body["items"] = items[min(from, len(items)):to]
			})(w, whole, next)
		}
	}
}

// discovery changes what the API says of the groups that it serves.
func discovery(change func(groups []any) []any) func() faultproxy.Effect {
	return faultproxy.Same(faultproxy.Edit(func(body map[string]any) {
		groups, _ := body["items"].([]any)
		body["items"] = change(groups)
	}))
}

// unfresh lets the last group be one whose server does not answer.
func unfresh(groups []any) []any {
	if len(groups) == 0 {
		return groups
	}
	group, _ := groups[len(groups)-1].(map[string]any)
	versions, _ := group["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		version["freshness"], version["resources"] = "Stale", nil
	}
	return groups
}

// builtinOnly leaves out what CustomResourceDefinitions bring, as an API server
// does in the first moments of its life.
func builtinOnly(groups []any) (left []any) {
	for _, g := range groups {
		group, _ := g.(map[string]any)
		metadata, _ := group["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		if !strings.Contains(name, ".") || strings.HasSuffix(name, ".k8s.io") {
			left = append(left, g)
		}
	}
	return left
}

// answered is the object of an answer, as JSON.
func answered(body []byte) (object map[string]any) {
	_ = json.Unmarshal(body, &object) // one without a body is none
	return object
}
