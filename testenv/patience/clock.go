// Package patience is how long tests wait for real programs. What takes three
// seconds on a quiet machine takes a minute beside a compiler, and says nothing
// of the program then. So its clock counts the time in which the machine had
// something left to give: while all processors are busy it goes ten times
// slower. On a quiet machine a test that waits in vain ends as soon as ever.
package patience

import (
	"context"
	"sync"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/quiet"
)

const (
	// slower is how many times slower the clock goes on a busy machine: a wait
	// has an end there too.
	slower = 10
	// sample is the least time that the load of the machine is measured over.
	sample = 250 * time.Millisecond
	// busyBelow is the share of all processors' time: with less of it left, who
	// waits for a processor may get none.
	busyBelow = 0.25
)

// Clock begins at the time of the machine, and goes slower while that is busy. It
// may be used by many at once.
type Clock struct {
	wall func() time.Time
	load func() (quiet.Load, error)

	mutex    sync.Mutex
	at, last time.Time // what the clock shows, and when that was
	was      quiet.Load
	unknown  bool // the load cannot be read
}

// New returns a clock that shows the time of the machine now.
func New() *Clock { return newClock(time.Now, quiet.ReadLoad) }

func newClock(wall func() time.Time, load func() (quiet.Load, error)) *Clock {
	now := wall()
	c := &Clock{wall: wall, load: load, at: now, last: now}
	var err error
	c.was, err = load()
	c.unknown = err != nil
	return c
}

// Now is the time. Where the load is not known it is the machine's own.
func (c *Clock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now := c.wall()
	passed := now.Sub(c.last)
	if passed < sample && !c.unknown {
		return c.at.Add(passed / slower)
	}
	c.last = now
	if c.busy() {
		passed /= slower
	}
	c.at = c.at.Add(passed)
	return c.at
}

// busy reports whether the machine had nothing left to give since it was asked
// before.
func (c *Clock) busy() bool {
	load, err := c.load()
	c.unknown = err != nil
	if c.unknown {
		return false
	}
	was := c.was
	c.was = load
	return load.IdleSince(was) < busyBelow
}

// Sleep waits, or until the context ends, whose error it returns then. It takes as
// long as it says: only how long all the waiting may take depends on the machine.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
