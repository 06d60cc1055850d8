package apply

import (
	"context"
	"crypto/sha256"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bubbleClock is the time within a bubble of [synctest]: it passes when everybody in
// the bubble waits, and stands still while anybody works, however busy the machine is
// and whoever waits how often.
type bubbleClock struct{ ahead time.Duration }

// newBubbleClock is one that stands at a time. It is made within the bubble.
func newBubbleClock(start time.Time) bubbleClock { return bubbleClock{time.Until(start)} }

// Now is the time.
func (c bubbleClock) Now() time.Time { return time.Now().Add(c.ahead) }

// Sleep waits until everybody else does.
func (c bubbleClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Advance lets time pass.
func (c bubbleClock) Advance(d time.Duration) { _ = c.Sleep(context.Background(), d) }

// TestBubbleClock: no time passes for who waits while somebody works, in whatever time
// the machine does that.
func TestBubbleClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
		clock := newBubbleClock(start)
		var worked atomic.Bool
		go func() {
			var sum [sha256.Size]byte
			for range 100_000 {
				sum = sha256.Sum256(sum[:])
				runtime.Gosched()
			}
			if now := clock.Now(); !now.Equal(start) {
				t.Errorf("after work it is %s", now)
			}
			worked.Store(true)
		}()
		for range 450 {
			if err := clock.Sleep(t.Context(), 2*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if took := clock.Now().Sub(start); took != 15*time.Minute || !worked.Load() {
			t.Errorf("%s have passed, the work is done: %t", took, worked.Load())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := clock.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("interrupted: %v", err)
		}
	})
}
