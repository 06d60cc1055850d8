package quietclock

import "testing"

// TestKernelCalls: a goroutine that enters the kernel works, and one that stays there
// waits.
func TestKernelCalls(t *testing.T) {
	var k kernelCalls
	for i, c := range []struct {
		now   uint64
		times int
		want  bool
	}{
		{1, 1, false},         // that was there from the beginning
		{3, window - 1, true}, // two have entered
		{3, 1, false},         // and stay
		{4, window - 1, true}, // another one
		{2, 1, false},         // two have left
		{3, 1, true},          // one comes back
		{0, 1, false},         // all have left
		{1, window - 1, true}, // and one enters
		{1, 1, false},
	} {
		for n := range c.times {
			if got := k.recent(c.now); got != c.want {
				t.Fatalf("row %d, sample %d of %d: %v", i, n, c.times, got)
			}
		}
	}
}
