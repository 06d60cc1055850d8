package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// scriptedClock passes as fast as one asks it to.
type scriptedClock struct {
	now  time.Time
	end  int // so many sleeps, then the context ends; 0 is never
	naps int
}

func (c *scriptedClock) Now() time.Time { return c.now }

func (c *scriptedClock) Sleep(_ context.Context, d time.Duration) error {
	c.now, c.naps = c.now.Add(d), c.naps+1
	if c.naps == c.end {
		return context.Canceled
	}
	return nil
}

// TestPause: the pause grows after some looks, up to an end; or stays.
func TestPause(t *testing.T) {
	p := Patience{Every: 2 * time.Second, Most: 5 * time.Second}
	for polls, want := range map[int]time.Duration{0: 2 * time.Second, steady - 1: 2 * time.Second, steady: 4 * time.Second, 2 * steady: 5 * time.Second, 1000: 5 * time.Second} {
		if got := p.Pause(polls); got != want {
			t.Errorf("after %d looks %v, not %v", polls, got, want)
		}
		if got := (Patience{Every: time.Second}).Pause(polls); got != time.Second {
			t.Errorf("after %d looks %v, though it stays", polls, got)
		}
	}
}

func TestWait(t *testing.T) {
	down := diag.On("node a", "read its stage: refuses connections").WithHint("look at it").WithCode(diag.Remote)
	p := Patience{Every: time.Second, Within: 3 * time.Second}
	for _, tt := range []struct {
		name  string
		end   int
		looks []error // one after the other, the last again and again
		want  string
		code  diag.Code
		naps  int
	}{
		{"at once", 0, []error{nil}, "", diag.OK, 0},
		{"later, after it was away", 0, []error{NotYet("it is booting"), down, nil}, "", diag.OK, 2},
		{"never", 0, []error{NotYet("it is booting")}, "node a: not running within 3s: it is booting", diag.NotReady, 3},
		{"gone", 0, []error{NotYet("it is booting"), down}, "node a: not running within 3s: read its stage: refuses connections\n  look at it", diag.NotReady, 3},
		{"interrupted", 2, []error{down}, "context canceled", diag.Input, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := &scriptedClock{end: tt.end}
			polls := tt.looks
			err := Wait(t.Context(), clock, p, "a", "running", func(context.Context) error {
				seen := polls[0]
				if len(polls) > 1 {
					polls = polls[1:]
				}
				return seen
			})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) || diag.CodeOf(err) != tt.code {
				t.Errorf("got %v", err)
			}
			if clock.naps != tt.naps {
				t.Errorf("waited %d times, want %d", clock.naps, tt.naps)
			}
		})
	}
}

// TestWaitEndsWithContext: whoever is interrupted does not look again.
func TestWaitEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	polls := 0
	err := Wait(ctx, &scriptedClock{}, Patience{Every: time.Second, Within: time.Hour}, "a", "running", func(context.Context) error {
		polls++
		cancel()
		return NotYet("it is booting")
	})
	if !errors.Is(err, context.Canceled) || polls != 1 {
		t.Errorf("%v after %d looks", err, polls)
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain",
		"1 error occurred:\n\t* v1alpha1.Config: 2 errors occurred:\n\t* no disk\n\t* no type\n\n\n": "v1alpha1.Config: no disk; no type",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}
