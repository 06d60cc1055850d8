package nodes_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
)

// stepClock is the clock of a run with several steps at once. Time passes when all of
// them wait, and not while one has not come to run, however busy the computer is:
// else those who wait in loops use up its time.
type stepClock struct {
	node.Clock // of the machines

	mu      sync.Mutex
	steps   int // that were begun, and have not ended
	waiting []*turn
}

type turn struct {
	until time.Time
	come  chan struct{}
}

// Sleep waits until all wait, and the moment is the next one.
func (t *stepClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	mine := &turn{t.Now().Add(d), make(chan struct{})}
	t.change(func() { t.waiting = append(t.waiting, mine) })
	select {
	case <-mine.come:
		return nil
	case <-ctx.Done():
		t.change(func() { t.waiting = slices.DeleteFunc(t.waiting, func(o *turn) bool { return o == mine }) })
		return ctx.Err()
	}
}

// begin and end are told of each step.
func (t *stepClock) begin() { t.change(func() { t.steps++ }) }
func (t *stepClock) end()   { t.change(func() { t.steps-- }) }

// change changes who waits for whom, and lets time pass if all wait.
func (t *stepClock) change(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do()
	for len(t.waiting) > 0 && len(t.waiting) >= t.steps {
		next := slices.MinFunc(t.waiting, func(a, b *turn) int { return cmp.Compare(a.until.UnixNano(), b.until.UnixNano()) })
		_ = t.Clock.Sleep(context.Background(), max(0, next.until.Sub(t.Now()))) // it moves the clock, and returns
		t.waiting = slices.DeleteFunc(t.waiting, func(o *turn) bool { return o == next })
		close(next.come)
		if t.steps == 0 {
			return
		}
	}
}
