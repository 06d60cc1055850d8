package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan/watch"
)

// TestWatchMetrics: what Prometheus is told after each turn. One that failed says nothing
// of the cluster.
func TestWatchMetrics(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	m := newWatchMetrics("dev", watch.Policy{Interval: time.Minute}, start)
	if text := m.text(); strings.Contains(text, "last_success") || !strings.Contains(text, `talosgen_watch_turns_total{env="dev",result="failed"} 0`) {
		t.Errorf("before the first turn:\n%s", text)
	}
	m.took(watch.Tick{Result: watch.Healed, Replaced: true, Workers: 3, Dead: 1, Changes: 2, Notes: []string{"a note"}}, start.Add(time.Minute))
	m.took(watch.Tick{Result: watch.Failed, Workers: 9, Dead: 9}, start.Add(2*time.Minute))
	text := m.text()
	for _, want := range []string{
		`talosgen_watch_replacements_total{env="dev"} 1`,
		`talosgen_watch_turns_total{env="dev",result="failed"} 1`,
		`talosgen_watch_last_success_timestamp_seconds{env="dev"} 1700000060`,
		`talosgen_watch_workers{env="dev"} 3`,
		`talosgen_watch_dead_workers{env="dev"} 1`,
		`talosgen_watch_pending_changes{env="dev"} 2`,
		`talosgen_watch_notes{env="dev"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}

// TestWatchHealth: a watch is alive until no turn has ended for longer than a replacement
// takes, by what it serves.
func TestWatchHealth(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	m := newWatchMetrics("dev", watch.Policy{Interval: time.Minute}, now)
	where, stop, err := m.serve(t.Context(), "127.0.0.1:0", clock{now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	status := func(path string) int {
		answer, err := http.Get("http://" + where + path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		if answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 200}, {59 * time.Minute, 200}, {2 * time.Minute, 503}} {
		now = now.Add(c.after)
		if got := status("/healthz"); got != c.want {
			t.Errorf("after %s: %d, want %d", c.after, got, c.want)
		}
	}
	m.took(watch.Tick{Result: watch.Locked}, now)
	if got := status("/healthz"); got != 200 {
		t.Errorf("after a turn: %d", got)
	}
	if got := status("/metrics"); got != 200 {
		t.Errorf("metrics: %d", got)
	}
	if _, _, err := m.serve(t.Context(), where, clock{now: func() time.Time { return now }}); err == nil || !strings.Contains(err.Error(), "cannot listen at "+where) {
		t.Errorf("at an address that is taken: %v", err)
	}
}
