package kube

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
)

// Runs that end at the same time are all recorded, whoever writes first.
func TestRunsAreRecordedAtOnce(t *testing.T) {
	s := newLockSite(t)
	const runs = 5
	var wait sync.WaitGroup
	for n := range runs {
		wait.Go(func() {
			c := s.client()
			defer c.Close()
			if err := NewLedger(c).Record(t.Context(), func(was string) (string, error) { return was + fmt.Sprintf("run %d\n", n), nil }); err != nil {
				t.Errorf("run %d: %v", n, err)
			}
		})
	}
	wait.Wait()
	text, err := NewLedger(s.client()).Text(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Sorted(strings.Lines(text))
	if got := strings.Join(lines, ""); got != "run 0\nrun 1\nrun 2\nrun 3\nrun 4\n" {
		t.Errorf("recorded are\n%s", got)
	}
}

// A run whose answer was lost is recorded once, and one that changes nothing writes
// nothing.
func TestRecordAfterALostAnswer(t *testing.T) {
	s := newLockSite(t)
	if text, err := NewLedger(s.client()).Text(t.Context()); text != "" || err != nil {
		t.Fatalf("before the first run it is %q (%v)", text, err)
	}
	add := func(was string) (string, error) {
		if strings.Contains(was, "this run\n") {
			return was, nil
		}
		return was + "this run\n", nil
	}
	for range 2 {
		s.set(false, true)
		s.wants(NewLedger(s.client()).Record(t.Context(), add), 0, "")
	}
	if text, err := NewLedger(s.client()).Text(t.Context()); text != "this run\n" || err != nil {
		t.Errorf("recorded is %q (%v)", text, err)
	}
}

// The history is talosgen's, whether it was made or replaced.
func TestRecordIsTalosgens(t *testing.T) {
	l := NewLedger(newLockSite(t).client())
	for _, text := range []string{"first\n", "second\n"} {
		if err := l.Record(t.Context(), func(string) (string, error) { return text, nil }); err != nil {
			t.Fatal(err)
		}
		o, err := l.read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range kubeplan.Entries(o) {
			if e.Manager != manager {
				t.Errorf("%q: %s has fields of it", text, e.Manager)
			}
		}
		if len(kubeplan.Entries(o)) == 0 {
			t.Errorf("%q: nobody has fields of it", text)
		}
	}
}
