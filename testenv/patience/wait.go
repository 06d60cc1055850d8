package patience

import (
	"context"
	"time"
)

// Context returns a context that ends when as much time has passed on a clock of
// its own; with it whatever waits ends in the end. The caller ends it before.
func Context(parent context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	return New().context(parent, within)
}

func (c *Clock) context(parent context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	end := c.Now().Add(within)
	go func() {
		for c.Now().Before(end) {
			if c.Sleep(ctx, sample) != nil {
				return
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return ctx, func() { cancel(nil) }
}

// Poll tries something every so often until it succeeds, and returns its last error
// when the time is over. It stops at once if that error is final; final may be nil.
func Poll(within, every time.Duration, final func(error) bool, try func() error) error {
	c := New()
	end := c.Now().Add(within)
	for {
		err := try()
		if err == nil || final != nil && final(err) || !c.Now().Before(end) {
			return err
		}
		time.Sleep(every)
	}
}
