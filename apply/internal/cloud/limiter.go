package cloud

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The rate limit of a project: 3600 requests per hour, of which one comes back
// each second (section Rate Limiting of https://docs.hetzner.cloud/reference/cloud).
const (
	limitPeriod = time.Hour
	// kept are the requests left to others in the project: the cluster's own
	// controllers. With fewer, requests go out only as fast as they come back.
	kept = 60
	// mostLimited is the longest wait for a request that was refused, whenever the
	// limit is whole again: before each try the lock is renewed, which lasts longer.
	mostLimited = lockTime / 5
)

// limiter holds requests back before the rate limit refuses them. It knows what
// the last answers said.
type limiter struct {
	clock Clock

	mu        sync.Mutex
	known     bool
	limit     int
	remaining int
	inFlight  int
	untilFull time.Duration // from the last answer on
	next      time.Time     // of the next request, when they are scarce
}

// take counts a request in, and returns how long it has to wait.
func (l *limiter) take() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight++
	if !l.known || l.remaining-l.inFlight >= l.reserve() {
		return 0
	}
	now := l.clock.Now()
	if l.next.Before(now) {
		l.next = now
	}
	l.next = l.next.Add(l.refill())
	return l.next.Sub(now)
}

// reserve is what is kept for others: less if the limit is small.
func (l *limiter) reserve() int { return min(kept, l.limit/10) }

// refill is the time in which one request comes back.
func (l *limiter) refill() time.Duration {
	return limitPeriod / time.Duration(max(l.limit, 1))
}

// refused returns how long to wait after the limit refused a request for the
// n-th time, from 0: others may take what comes back, so longer each time, but
// not longer than until the limit is whole again, nor than [mostLimited].
func (l *limiter) refused(n int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := mostLimited
	if l.untilFull > 0 {
		whole = min(whole, l.untilFull)
	}
	d := 5 * time.Second
	for range n {
		if d *= 2; d >= whole {
			break
		}
	}
	return min(d, whole) + time.Second // Hetzner's times are whole seconds
}

// done counts a request out again.
func (l *limiter) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
}

// answered takes in the headers of an answer that came at a time of Hetzner's
// clock.
func (l *limiter) answered(h http.Header, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit, err := strconv.Atoi(h.Get("RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(h.Get("RateLimit-Remaining"))
	if err != nil || err2 != nil || limit <= 0 {
		return // a proxy's answer, or an endpoint without limit
	}
	l.known, l.limit, l.remaining = true, limit, remaining
	if reset, err := strconv.ParseInt(h.Get("RateLimit-Reset"), 10, 64); err == nil {
		l.untilFull = time.Unix(reset, 0).Sub(now)
	}
}

// left returns the requests left, or -1 if nobody has said.
func (l *limiter) left() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		return -1
	}
	return l.remaining
}
