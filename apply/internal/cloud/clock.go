package cloud

import (
	"context"
	"time"
)

// Clock is the passing of time, so that tests need none.
type Clock interface {
	// Now is the time of this machine.
	Now() time.Time
	// Sleep waits, and returns early with the context's error if that ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// backoff returns how long to wait before the n-th repetition, from 0: doubling
// from first, never more than most, the upper half of it left to chance (a
// number from 0 to 1), so that two runs do not stay in step.
func backoff(n int, first, most time.Duration, fraction float64) time.Duration {
	d := first
	for range n {
		if d *= 2; d >= most {
			d = most
			break
		}
	}
	return d/2 + time.Duration(fraction*float64(d/2))
}
