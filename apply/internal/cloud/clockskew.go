package cloud

import (
	"slices"
	"time"
)

const (
	// answersHeard is how many answers decide what time it is at Hetzner.
	answersHeard = 12
	// alike is how much two answers may differ that tell of the same clock: one of
	// them may have been on its way as long as a request may take.
	alike = 2 * requestTimeout
)

// clockSkew is how much Hetzner's clock is ahead of that of this machine. Not every
// answer that has a date comes from a machine with the right time: what a single one
// says would let a run lose its lock. So another time is believed only once nearly
// all of the last answers tell it.
type clockSkew struct {
	now  time.Duration
	said []time.Duration // by the last answers
}

func (a *clockSkew) known() bool { return len(a.said) > 0 }

// say takes in what an answer says.
func (a *clockSkew) say(d time.Duration) {
	if len(a.said) == 0 || near(d, a.now) {
		a.now = d
	}
	a.said = append(a.said, d)
	if len(a.said) > answersHeard {
		a.said = slices.Delete(a.said, 0, 1)
	}
	count := func(as time.Duration) (n int) {
		for _, s := range a.said {
			if near(s, as) {
				n++
			}
		}
		return n
	}
	if 4*count(a.now) <= len(a.said) && 4*count(d) >= 3*len(a.said) {
		a.now = d
	}
}

func near(a, b time.Duration) bool { return (a - b).Abs() <= alike }
