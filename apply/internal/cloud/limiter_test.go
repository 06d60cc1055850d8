package cloud

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// bucket is Hetzner's side of the rate limit: full at the start, one back for
// each second.
type bucket struct {
	clock   *scriptedClock
	limit   int
	used    float64 // at the time of the last request
	last    time.Time
	refused int
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	now := b.clock.Now()
	perSecond := float64(b.limit) / 3600
	if !b.last.IsZero() {
		b.used = max(0, b.used-now.Sub(b.last).Seconds()*perSecond)
	}
	b.last = now
	refuse := b.used+1 > float64(b.limit)
	if !refuse {
		b.used++
	}
	h := w.Header()
	h.Set("Date", now.Format(http.TimeFormat))
	h.Set("RateLimit-Limit", fmt.Sprint(b.limit))
	h.Set("RateLimit-Remaining", fmt.Sprint(int(float64(b.limit)-b.used)))
	h.Set("RateLimit-Reset", fmt.Sprint(now.Add(time.Duration(b.used/perSecond)*time.Second).Unix()))
	if refuse {
		b.refused++
		fail(w, 429, "rate_limit_exceeded", fmt.Sprintf("limit of %d requests per hour reached", b.limit))
		return
	}
	answer(w, 200, `{}`)
}

// TestPaced: more requests than the limit has in stock go out as they come
// back, none is refused, and some are left for others all the time.
func TestPaced(t *testing.T) {
	for _, limit := range []int{3600, 360} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			b := &bucket{limit: limit}
			c, clock := serve(t, b.ServeHTTP)
			b.clock = clock
			extra := limit / 6
			for i := range limit + extra {
				if err := call(c, "GET"); err != nil {
					t.Fatalf("request %d: %v", i, err)
				}
				if left := c.Stats().Remaining; left < min(kept, limit/10)-2 {
					t.Fatalf("request %d: %d left", i, left)
				}
			}
			perRequest := time.Hour / time.Duration(limit)
			least, most := time.Duration(extra)*perRequest, time.Duration(extra+kept+2)*perRequest
			if b.refused > 0 || clock.total() < least || clock.total() > most {
				t.Errorf("%d refused, waited %s", b.refused, clock.total())
			}
			if got := c.Stats(); got.Limited != clock.total() {
				t.Errorf("reported %s of %s", got.Limited, clock.total())
			}
		})
	}
}

// TestUsedUpByOthers: the limit is used up when the first request comes.
func TestUsedUpByOthers(t *testing.T) {
	b := &bucket{limit: 3600}
	c, clock := serve(t, b.ServeHTTP)
	b.clock, b.used, b.last = clock, 3700, start
	for range 3 {
		if err := call(c, "GET"); err != nil {
			t.Fatal(err)
		}
	}
	if clock.total() < 100*time.Second || clock.total() > 10*time.Minute {
		t.Errorf("waited %s", clock.total())
	}
}

// TestWithoutLimit: answers without the headers hold nothing up.
func TestWithoutLimit(t *testing.T) {
	c, clock := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `{}`) })
	for range 100 {
		if err := call(c, "GET"); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Stats(); clock.total() != 0 || got.Remaining != -1 || got.Requests != 100 {
		t.Errorf("waited %s, %+v", clock.total(), got)
	}
}

// TestRefusedWaits: longer each time, at most until the limit is whole, and never so
// long that a lock expires in one wait.
func TestRefusedWaits(t *testing.T) {
	for whole, want := range map[time.Duration]string{
		time.Minute: "6s 11s 21s 41s 1m1s 1m1s",
		time.Hour:   "6s 11s 21s 41s 2m1s 2m1s",
	} {
		l := limiter{clock: newClock()}
		h := http.Header{}
		h.Set("RateLimit-Limit", "3600")
		h.Set("RateLimit-Remaining", "0")
		h.Set("RateLimit-Reset", fmt.Sprint(start.Add(whole).Unix()))
		l.answered(h, start)
		got := fmt.Sprint(l.refused(0), l.refused(1), l.refused(2), l.refused(3), l.refused(9), l.refused(30))
		if got != want {
			t.Errorf("whole in %s: %s, want %s", whole, got, want)
		}
	}
}
