package hetznersim

import (
	"net/http"
	"strconv"
	"time"
)

// bucket is the rate limit of a project: it holds as many requests as an hour
// allows, and fills up evenly.
type bucket struct {
	spent float64 // requests that are missing from a full bucket
	at    time.Time
}

// refill returns the bucket at a time, with a limit of requests per hour.
func (b bucket) refill(limit int, now time.Time) bucket {
	if elapsed := now.Sub(b.at); elapsed > 0 {
		b.spent = max(0, b.spent-elapsed.Hours()*float64(limit))
	}
	b.at = now
	return b
}

// remaining is how many requests may follow at once.
func (b bucket) remaining(limit int) int { return max(0, int(float64(limit)-b.spent)) }

// charge takes a request from the bucket, if there is one.
func (b bucket) charge(limit int, now time.Time) (bucket, bool) {
	b = b.refill(limit, now)
	if b.remaining(limit) < 1 {
		return b, false
	}
	b.spent++
	return b, true
}

// headers tells the limit, what remains, and when it will be full again.
func (b bucket) headers(h http.Header, limit int) {
	full := time.Duration(b.spent / float64(limit) * float64(time.Hour))
	reset := b.at.Add(full)
	if reset.Nanosecond() > 0 {
		reset = reset.Add(time.Second)
	}
	h.Set("RateLimit-Limit", strconv.Itoa(limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(b.remaining(limit)))
	h.Set("RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
}
