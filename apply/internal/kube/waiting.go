package kube

import (
	"context"
	"time"
)

const (
	// pollEvery is how long to wait before looking again, at first; nothing is waited
	// for by watching it.
	pollEvery = 2 * time.Second
	// soonPolls is how many looks are as soon as that. The pauses before later ones grow,
	// up to the longest.
	soonPolls    = 10
	longestPause = 10 * time.Second
)

// pollPause is how long to wait before the n-th look, from 0.
func pollPause(n int) time.Duration {
	return min(pollEvery+time.Duration(max(0, n-soonPolls+1))*time.Second, longestPause)
}

// waiting is for something that comes by itself: looks that become rarer, and an end.
type waiting struct {
	clock Clock
	end   time.Time
	polls int
}

// waitFor begins to wait.
func (c *Client) waitFor(within time.Duration) *waiting {
	return &waiting{clock: c.conn.clock, end: c.conn.clock.Now().Add(within)}
}

// over reports whether there is no time left.
func (w *waiting) over() bool { return !w.clock.Now().Before(w.end) }

// pause waits until it is worth looking again.
func (w *waiting) pause(ctx context.Context) error {
	w.polls++
	return w.clock.Sleep(ctx, pollPause(w.polls-1))
}
