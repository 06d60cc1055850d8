package kube

import (
	"context"
	"time"
)

const (
	// lookEvery is how long to wait before looking again, at first; nothing is waited
	// for by watching it.
	lookEvery = 2 * time.Second
	// soonLooks is how many looks are as soon as that. The pauses before later ones grow,
	// up to the longest.
	soonLooks   = 10
	longestLook = 10 * time.Second
)

// lookPause is how long to wait before the n-th look, from 0.
func lookPause(n int) time.Duration {
	return min(lookEvery+time.Duration(max(0, n-soonLooks+1))*time.Second, longestLook)
}

// waiting is for something that comes by itself: looks that become rarer, and an end.
type waiting struct {
	clock Clock
	end   time.Time
	looks int
}

// waitFor begins to wait.
func (c *Client) waitFor(within time.Duration) *waiting {
	return &waiting{clock: c.conn.clock, end: c.conn.clock.Now().Add(within)}
}

// over reports whether there is no time left.
func (w *waiting) over() bool { return !w.clock.Now().Before(w.end) }

// pause waits until it is worth looking again.
func (w *waiting) pause(ctx context.Context) error {
	w.looks++
	return w.clock.Sleep(ctx, lookPause(w.looks-1))
}
