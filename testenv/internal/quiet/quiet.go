// Package quiet tells whether the machine has nothing else to do. A promise
// such as "ready in 10 seconds" is about such a machine; on one that builds
// something at the same time a clock measures the other work.
package quiet

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	attempts = 3
	sample   = 500 * time.Millisecond
	// idleEnough is the share of all processors' time.
	idleEnough = 0.75
)

// Within makes sure that something takes less than limit on a quiet machine.
// It is done up to three times, because one time says what the machine did
// meanwhile as well. On a machine that is busy there is no verdict, and
// nothing is done: the log says so.
func Within(t testing.TB, limit time.Duration, do func() time.Duration) {
	t.Helper()

	within(t, limit, idle, do)
}

func within(t testing.TB, limit time.Duration, idle func() (float64, error), do func() time.Duration) {
	t.Helper()

	var took []string

	for range attempts {
		share, err := idle()
		if err != nil || share < idleEnough {
			t.Logf("no verdict: this machine has other things to do (%.0f%% idle, %v); slow times %q", share*100, err, took)
			return
		}

		d := do()
		if d < limit {
			t.Logf("it took %s, which is less than %s", d.Round(time.Millisecond), limit)
			return
		}

		took = append(took, d.String())
	}

	t.Errorf("it took %s, and must take less than %s", strings.Join(took, ", "), limit)
}

// idle is the share of the processors' time in which they had nothing to do,
// during a sample.
func idle() (float64, error) {
	before, err := ReadLoad()
	if err != nil {
		return 0, err
	}

	time.Sleep(sample)

	now, err := ReadLoad()
	if err != nil {
		return 0, err
	}

	return now.IdleSince(before), nil
}

// Load is the time that has passed on all processors together, in the kernel's
// ticks: all of it, and that in which they had nothing to do.
type Load struct{ Idle, All uint64 }

// ReadLoad reads the load since the machine was started. It fails where there is
// no /proc/stat.
func ReadLoad() (Load, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Load{}, err
	}

	return parse(string(text))
}

// parse reads the first line: user, nice, system, idle, waiting for disks,
// interrupts (two), taken by other machines. What follows is in user already.
func parse(stat string) (l Load, err error) {
	line, _, _ := strings.Cut(stat, "\n")

	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return l, fmt.Errorf("/proc/stat begins with %q", line)
	}

	for i, field := range fields[1:9] {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return l, fmt.Errorf("/proc/stat: %w", err)
		}

		l.All += n
		if i == 3 || i == 4 {
			l.Idle += n
		}
	}

	return l, nil
}

// IdleSince is the share of the processors' time in which they had nothing to do
// since an earlier load; 0 if no time has passed.
func (l Load) IdleSince(before Load) float64 {
	if l.All <= before.All {
		return 0
	}

	return float64(l.Idle-before.Idle) / float64(l.All-before.All)
}
