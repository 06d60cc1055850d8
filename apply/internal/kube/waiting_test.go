package kube

import (
	"testing"
	"time"
)

// TestLookPause: looks become rarer, and ten minutes have a bound of them.
func TestLookPause(t *testing.T) {
	var passed time.Duration
	polls := 0
	for last := time.Duration(0); passed < stageWithin; polls++ {
		pause := pollPause(polls)
		if pause < last || pause > longestPause {
			t.Errorf("the pause before look %d is %s, after one of %s", polls, pause, last)
		}
		last, passed = pause, passed+pause
	}
	if pollPause(0) != pollEvery || polls > 75 {
		t.Errorf("%d looks within %s, the first after %s", polls, stageWithin, pollPause(0))
	}
}
