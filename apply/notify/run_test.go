package notify

import (
	"strings"
	"testing"
	"time"
)

// begun is a run that has just begun.
func begun() Run {
	return Run{
		Environment: "prod", Cluster: "acme-prod", Command: "apply", Run: "6a1-0b", Owner: "ann@desk",
		Begun: time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC), Commit: strings.Repeat("c", 40), Link: "https://ci.example.com/7",
	}.Began()
}

// Each way in which a run ends has a state, an outcome and a line of text.
func TestEnd(t *testing.T) {
	at := begun().Begun.Add(time.Minute)
	for _, c := range []struct {
		what    string
		outcome string // of its report; empty: it has none
		changes int
		code    int
		want    string
	}{
		{"done", "done", 3, 0, "success done: apply prod: done, 3 changes, by ann@desk"},
		{"one change", "done", 1, 0, "success done: apply prod: done, 1 change, by ann@desk"},
		{"nothing to do", "in-sync", 0, 0, "success in-sync: apply prod: in-sync, by ann@desk"},
		{"no report, nothing wrong", "", 0, 0, "success in-sync: apply prod: in-sync, by ann@desk"},
		{"refused", "refused", 0, 3, "failure refused: apply prod: refused (exit code 3), by ann@desk"},
		{"refused at plan, without a report", "", 0, 3, "failure failed: apply prod: failed (exit code 3), by ann@desk"},
		{"declined", "", 0, 1, "failure declined: apply prod: declined (exit code 1), by ann@desk"},
		{"failed halfway", "failed", 2, 5, "failure failed: apply prod: failed, 2 changes (exit code 5), by ann@desk"},
		{"not in time", "failed", 2, 7, "failure failed: apply prod: failed, 2 changes (exit code 7), by ann@desk"},
		{"done, and then something failed", "done", 2, 5, "failure done: apply prod: done, 2 changes (exit code 5), by ann@desk"},
		{"another run holds the lock", "", 0, 6, "error failed: apply prod: failed (exit code 6), by ann@desk"},
		{"interrupted", "interrupted", 2, 130, "error interrupted: apply prod: interrupted, 2 changes (exit code 130), by ann@desk"},
		{"interrupted in the plan", "", 0, 130, "error interrupted: apply prod: interrupted (exit code 130), by ann@desk"},
		{"a panic", "", 0, 70, "error failed: apply prod: failed (exit code 70), by ann@desk"},
	} {
		r := begun()
		if r.Changes = c.changes; c.outcome != "" {
			r.Outcome = c.outcome
		}
		r = r.End(c.code, at)
		if got := string(r.State) + " " + r.Outcome + ": " + r.Text; got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		if *r.ExitCode != c.code || !r.Ended.Equal(at) {
			t.Errorf("%s: exit code %d at %s", c.what, *r.ExitCode, r.Ended)
		}
	}
	if r := begun(); r.State != Pending || r.Text != "apply prod: running, by ann@desk" || r.ExitCode != nil || r.Ended != nil {
		t.Errorf("a run that begins is %+v", r)
	}
}

// A description is no longer than GitHub takes, counted in characters.
func TestDescription(t *testing.T) {
	r := Run{Text: strings.Repeat("ü", mostDescription)}
	if got := r.description(); got != r.Text {
		t.Errorf("it is cut: %s", got)
	}
	r.Text += "x"
	if got := []rune(r.description()); len(got) != mostDescription || got[mostDescription-1] != '…' {
		t.Errorf("%d characters: %s", len(got), string(got))
	}
}
