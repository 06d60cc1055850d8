package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/diag"
)

// watchMetrics are what a watch tells Prometheus.
type watchMetrics struct {
	env      string
	interval time.Duration

	mu      sync.Mutex
	begun   time.Time
	ended   time.Time // of the last turn
	success time.Time // of the last turn that did not fail
	last    watch.Tick
	turns   map[watch.Result]int
	done    int // replacements
}

func newWatchMetrics(env string, p watch.Policy, now time.Time) *watchMetrics {
	return &watchMetrics{env: env, interval: p.Interval, begun: now, turns: map[watch.Result]int{}}
}

// took takes in a turn that has ended.
func (m *watchMetrics) took(t watch.Tick, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = now
	m.turns[t.Result]++
	if t.Replaced {
		m.done++
	}
	if t.Result == watch.Failed || t.Result == watch.Locked {
		return // what was found before is all that is known
	}
	m.last, m.success = t, now
}

// text is the exposition for Prometheus.
func (m *watchMetrics) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	metric := func(name, kind, help string, values ...string) {
		fmt.Fprintf(&b, "# HELP talosgen_watch_%s %s\n# TYPE talosgen_watch_%s %s\n", name, help, name, kind)
		for _, v := range values {
			fmt.Fprintf(&b, "talosgen_watch_%s%s\n", name, v)
		}
	}
	value := func(v int) string { return fmt.Sprintf("{env=%q} %d", m.env, v) }
	var turns []string
	for _, r := range []watch.Result{watch.InSync, watch.Watches, watch.Healed, watch.Would, watch.Locked, watch.Failed} {
		turns = append(turns, fmt.Sprintf("{env=%q,result=%q} %d", m.env, r, m.turns[r]))
	}
	metric("turns_total", "counter", "Turns that have ended, by their result.", turns...)
	metric("replacements_total", "counter", "Workers that were replaced.", value(m.done))
	if m.success.IsZero() {
		return b.String()
	}
	metric("last_success_timestamp_seconds", "gauge", "When a turn last ended without failing.", value(int(m.success.Unix())))
	metric("workers", "gauge", "Workers of the tree.", value(m.last.Workers))
	metric("dead_workers", "gauge", "Workers that the last turn found dead.", value(m.last.Dead))
	metric("pending_changes", "gauge", "Changes that apply would make, as the last turn found.", value(m.last.Changes))
	metric("notes", "gauge", "What the last turn told and left to people.", value(len(m.last.Notes)))
	return b.String()
}

// patience is how many intervals a watch may be late, and patientFor how long a
// replacement takes at most, before it does not count as alive.
const (
	patience   = 3
	patientFor = time.Hour
)

// alive reports whether turns go on.
func (m *watchMetrics) alive(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.begun
	if m.ended.After(last) {
		last = m.ended
	}
	return now.Sub(last) < max(patience*m.interval, patientFor)
}

// serve serves metrics and health until stop is called, and returns where.
func (m *watchMetrics) serve(ctx context.Context, address string, c clock) (where string, stop func(), err error) {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, diag.On("--"+flagMetrics, "cannot listen at %s: %v", address, reasonOf(err)).
			WithHint("name another address, or none: --%s ''", flagMetrics).WithCode(diag.Usage).WithCause(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write([]byte(m.text()))
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !m.alive(c.now()) {
			http.Error(w, "no turn has ended for too long", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}
