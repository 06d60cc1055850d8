package main

import (
	"context"
	"time"
)

// clock tells the time, and waits.
type clock struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

// Now returns the time.
func (c clock) Now() time.Time { return c.now() }

// Sleep waits.
func (c clock) Sleep(ctx context.Context, d time.Duration) error { return c.sleep(ctx, d) }

// sleepFor waits in real time.
func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
