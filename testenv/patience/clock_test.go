package patience

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/quiet"
)

// machine is one whose time passes when it is told to.
type machine struct {
	now  time.Time
	load quiet.Load
	err  error
}

// pass lets time pass, with a share of the processors' time left.
func (m *machine) pass(d time.Duration, idle float64) {
	m.now = m.now.Add(d)
	m.load.All += uint64(d / time.Millisecond)
	m.load.Idle += uint64(float64(d/time.Millisecond) * idle)
}

func (m *machine) clock() *Clock {
	return newClock(func() time.Time { return m.now }, func() (quiet.Load, error) { return m.load, m.err })
}

func TestClock(t *testing.T) {
	for _, test := range []struct {
		name string
		idle []float64 // second by second
		err  error
		want time.Duration
	}{
		{"quiet", []float64{1, 1, 0.9, 0.25}, nil, 4 * time.Second},
		{"busy", []float64{0, 0, 0.1, 0.24}, nil, 400 * time.Millisecond},
		{"busy at first", []float64{0, 0, 1, 1}, nil, 2200 * time.Millisecond},
		{"not known", []float64{0, 0, 0, 0}, errors.New("no /proc/stat"), 4 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &machine{now: time.Unix(1000, 0), err: test.err}
			c := m.clock()
			begin, last := c.Now(), c.Now()
			for _, idle := range test.idle {
				for range 10 { // many look, and none sees time go back
					m.pass(100*time.Millisecond, idle)
					if now := c.Now(); now.Before(last) {
						t.Fatalf("%s after %s", now, last)
					}
					last = c.Now()
				}
				m.pass(0, idle)
			}
			// A sample that has begun counts at its slowest, and one in which the
			// load changes counts as a whole.
			if got := last.Sub(begin); (got - test.want).Abs() > sample {
				t.Errorf("%s passed, want %s", got, test.want)
			}
		})
	}
}

func TestContext(t *testing.T) {
	m := &machine{now: time.Unix(1000, 0)}
	ctx, cancel := m.clock().context(t.Context(), time.Second)
	defer cancel()
	if ctx.Err() != nil {
		t.Fatal("it has ended before any time has passed")
	}
	over, end := New().context(t.Context(), 0)
	defer end()
	<-over.Done()
	if !errors.Is(context.Cause(over), context.DeadlineExceeded) {
		t.Errorf("it ended by %v", context.Cause(over))
	}
	cancel()
	if <-ctx.Done(); !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("it ended by %v", context.Cause(ctx))
	}
}

func TestPoll(t *testing.T) {
	final := errors.New("final")
	again := errors.New("again")
	for _, test := range []struct {
		name   string
		within time.Duration
		errs   []error
		want   error
	}{
		{"at once", 0, []error{nil}, nil},
		{"the third time", time.Hour, []error{again, again, nil}, nil},
		{"too late", 0, []error{again}, again},
		{"in vain", time.Hour, []error{again, final}, final},
	} {
		tries := 0
		err := Poll(test.within, time.Millisecond, func(err error) bool { return errors.Is(err, final) }, func() error {
			tries++
			return test.errs[tries-1]
		})
		if !errors.Is(err, test.want) || tries != len(test.errs) {
			t.Errorf("%s: %v after %d tries, want %v", test.name, err, tries, test.want)
		}
	}
}
