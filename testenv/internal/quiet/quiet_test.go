package quiet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// verdict is a test that notes what it is told.
type verdict struct {
	testing.TB
	said string
}

func (v *verdict) Helper() {}

func (v *verdict) Logf(format string, args ...any) { v.said = "log: " + fmt.Sprintf(format, args...) }
func (v *verdict) Errorf(format string, args ...any) {
	v.said = "error: " + fmt.Sprintf(format, args...)
}

func TestWithin(t *testing.T) {
	const (
		busy, unknown = 0.5, -1
		ms            = time.Millisecond
	)

	for _, test := range []struct {
		name string
		idle []float64
		took []time.Duration
		want string
	}{
		{"in time", []float64{1}, []time.Duration{9 * ms}, "log: it took 9ms, which is less than 10ms"},
		{"the third time", []float64{1, 0.8, 1}, []time.Duration{12 * ms, 11 * ms, 9 * ms}, "log: it took 9ms"},
		{"never", []float64{1, 1, 1}, []time.Duration{12 * ms, 11 * ms, 10 * ms}, "error: it took 12ms, 11ms, 10ms, and must"},
		{"busy", []float64{busy}, nil, "log: no verdict: this machine has other things to do (50% idle, <nil>)"},
		{"busy after a slow time", []float64{1, busy}, []time.Duration{12 * ms}, `log: no verdict: this machine has other things to do (50% idle, <nil>); slow times ["12ms"]`},
		{"unknown", []float64{unknown}, nil, "log: no verdict: this machine has other things to do (0% idle, no /proc/stat)"},
	} {
		v := &verdict{}
		within(v, 10*ms, func() (float64, error) {
			share := test.idle[0]
			if test.idle = test.idle[1:]; share == unknown {
				return 0, errors.New("no /proc/stat")
			}

			return share, nil
		}, func() time.Duration {
			d := test.took[0]
			test.took = test.took[1:]

			return d
		})

		if !strings.HasPrefix(v.said, test.want) || len(test.idle)+len(test.took) > 0 {
			t.Errorf("%s: says %q, want %q; left %v %v", test.name, v.said, test.want, test.idle, test.took)
		}
	}
}

func TestIdle(t *testing.T) {
	before, err := parse("cpu  100 0 100 500 50 10 10 30 7 7\ncpu0 1 2 3\n")
	if err != nil || before != (Load{550, 800}) {
		t.Fatalf("%v, %v", before, err)
	}

	if got := (Load{625, 900}).IdleSince(before); got != 0.75 {
		t.Errorf("idle %v", got)
	}

	if got := before.IdleSince(before); got != 0 {
		t.Errorf("idle %v, when no time has passed", got)
	}

	for _, text := range []string{"", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n", "cpu 1 2 3 4 5 6 7 x\n"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}

	if share, err := idle(); err == nil && (share < 0 || share > 1) {
		t.Errorf("idle %v", share)
	}
}
