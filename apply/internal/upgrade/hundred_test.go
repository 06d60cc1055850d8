package upgrade_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// hundred are 100 nodes before a hop of Talos.
func hundred() map[string]string {
	talos := map[string]string{}
	for i := range 100 {
		name := fmt.Sprintf("w-%02d", i)
		if i < 3 {
			name = fmt.Sprint("cp-", i+1)
		}
		talos[name] = "v1.14.0"
	}
	return talos
}

// used is the processor time of this process.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// bubbleClock is the time within a bubble of [synctest]: those who wait at once wait
// together.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time { return time.Now() }

func (bubbleClock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c bubbleClock) Advance(d time.Duration) { _ = c.Sleep(context.Background(), d) }

// TestHundred takes 100 nodes over a hop, one worker at a time and a tenth of them, and
// prints what that takes: on the clock of the nodes, in calls, and of the processor, of
// which the simulator takes its part. docs/how-to/upgrade.md has the figures.
func TestHundred(t *testing.T) {
	took := map[int]time.Duration{}
	for _, percent := range []int{0, 10} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorldAt(t, bubbleClock{}, hundred())
			w.up.Policy.MaxParallel, w.up.Policy.Percent, w.up.Policy.Allow = 0, percent, []string{upgradeplan.RiskSingle}
			w.fleet.ResetCalls()
			begin, cpu := time.Now(), used()
			w.must(w.run(t.Context()))
			took[percent], cpu = time.Since(begin), used()-cpu
			w.done()
			total := len(w.fleet.Calls())
			t.Logf("--max-parallel %2d%%: %8v simulated, %6d calls, %5.1f of a node, %6v of the processor", percent,
				took[percent].Round(time.Second), total, float64(total)/100, cpu.Round(10*time.Millisecond))
			if most := map[int]int{0: 30000, 10: 10000}[percent]; total > most {
				t.Errorf("%d calls, not %d at most", total, most)
			}
			if percent == 10 && cpu > 5*time.Second {
				t.Errorf("it takes %v of the processor", cpu)
			}
		})
	}
	if took[10]*4 > took[0] {
		t.Errorf("a tenth at once takes %v, and one at a time %v", took[10], took[0])
	}
}
