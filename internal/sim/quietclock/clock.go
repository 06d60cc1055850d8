package quietclock

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Outside is the world in which a clock stands.
type Outside struct {
	// Now is the real time.
	Now func() time.Time
	// Pause waits in real time.
	Pause func(time.Duration)
	// Busy reports whether anybody but the caller works. Nil is what [Busy] returns.
	Busy func() bool
}

// Clock is simulated time. It may be used by several goroutines at once.
type Clock struct {
	outside Outside
	passed  atomic.Uint64 // what went over connections: see [Clock.Watch]

	mu      sync.Mutex
	now     time.Time
	waiting []*sleeper
	pumping bool
}

// sleeper is somebody who waits for a moment.
type sleeper struct {
	until time.Time
	awake chan struct{}
}

// New returns a clock that stands at a time.
func New(start time.Time, outside Outside) *Clock {
	if outside.Busy == nil {
		outside.Busy = Busy()
	}
	return &Clock{outside: outside, now: start}
}

// Now returns the simulated time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep waits in simulated time, or returns the error of the context when that
// ends before.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	s := c.enqueue(d)
	select {
	case <-s.awake:
		return nil
	case <-ctx.Done():
		c.leave(s)
		return ctx.Err()
	}
}

func (c *Clock) enqueue(d time.Duration) *sleeper {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &sleeper{c.now.Add(d), make(chan struct{})}
	c.waiting = append(c.waiting, s)
	if !c.pumping {
		c.pumping = true
		go c.pump()
	}
	return s
}

func (c *Clock) leave(s *sleeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(other *sleeper) bool { return other == s })
}

const (
	// pollEvery is how often the clock looks whether everybody waits.
	pollEvery = 500 * time.Microsecond
	// still is how many looks in a row must find nobody at work: whom the kernel
	// is about to wake up seems to wait. On a busy machine that takes longer, so
	// far jumps, which would do harm then, need much more.
	still, longStill = 2, 20
	// far is a far jump.
	far = 10 * time.Second
	// patience is how long somebody may work before time passes nevertheless.
	patience = time.Second
)

// pump moves the clock as long as somebody waits for it.
func (c *Clock) pump() {
	last := c.outside.Now()
	rest, quiet := last, 0 // since when nobody came to rest, and looks since then
	seen := c.passed.Load()
	for c.waited() {
		c.outside.Pause(pollEvery)
		now := c.outside.Now()
		passed := c.passed.Load()
		if quiet++; passed != seen || c.outside.Busy() {
			quiet = 0
		}
		switch {
		case quiet >= still && c.jump(quiet):
			quiet, rest = 0, now
		case now.Sub(rest) > patience:
			c.pass(now.Sub(last))
		}
		last, seen = now, passed
	}
}

// waited reports whether anybody waits. If not, the pump ends: the next one who
// waits starts it again.
func (c *Clock) waited() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pumping = len(c.waiting) > 0
	return c.pumping
}

// jump moves the clock to the next moment that somebody waits for, if so many
// looks are enough for that.
func (c *Clock) jump(quiet int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		return false
	}
	next := slices.MinFunc(c.waiting, func(a, b *sleeper) int { return a.until.Compare(b.until) })
	if next.until.Sub(c.now) >= far && quiet < longStill {
		return false
	}
	c.to(next.until)
	return true
}

// pass moves the clock by what has passed outside.
func (c *Clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to(c.now.Add(max(d, 0)))
}

// to moves the clock, and wakes up those whose moment has come.
func (c *Clock) to(now time.Time) {
	c.now = now
	c.waiting = slices.DeleteFunc(c.waiting, func(s *sleeper) bool {
		due := !s.until.After(now)
		if due {
			close(s.awake)
		}
		return due
	})
}
