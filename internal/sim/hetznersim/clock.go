package hetznersim

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Clock is the time of the simulator, and how it waits.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the error of the context when that ends before.
	Sleep(ctx context.Context, d time.Duration) error
}

// ScriptedClock is a clock that moves when it is told to. A Sleep moves it and
// returns at once, so that a client which is given the same clock never waits.
// It may be used by several goroutines.
type ScriptedClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at a time.
func NewClock(start time.Time) *ScriptedClock { return &ScriptedClock{now: start} }

// Now returns the time.
func (c *ScriptedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *ScriptedClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Set puts the clock to a time, which may be an earlier one.
func (c *ScriptedClock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// Sleep moves the clock by d and returns at once, after others had a chance to
// go on: who waits in a loop would else have used up its time before they began.
func (c *ScriptedClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Advance(d)
	runtime.Gosched()
	return nil
}
