package kube

import (
	"testing"
	"time"
)

// TestLookPause: looks become rarer, and ten minutes have a bound of them.
func TestLookPause(t *testing.T) {
	var passed time.Duration
	looks := 0
	for last := time.Duration(0); passed < stageWithin; looks++ {
		pause := lookPause(looks)
		if pause < last || pause > longestLook {
			t.Errorf("the pause before look %d is %s, after one of %s", looks, pause, last)
		}
		last, passed = pause, passed+pause
	}
	if lookPause(0) != lookEvery || looks > 75 {
		t.Errorf("%d looks within %s, the first after %s", looks, stageWithin, lookPause(0))
	}
}
