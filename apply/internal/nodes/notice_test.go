package nodes_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestOneRestartAtATime: the kubelet asks for its static pods every 20 seconds, and machined
// asks it how they are every 15. However long it takes until a node says that they are not
// ready, and whether or not it ever does, the next control plane is changed when those of
// the one before run again.
func TestOneRestartAtATime(t *testing.T) {
	for _, tt := range []struct{ notice, report, pods time.Duration }{
		{20 * time.Second, 15 * time.Second, 40 * time.Second},
		{20 * time.Second, time.Second, 40 * time.Second},
		{time.Second, 15 * time.Second, 40 * time.Second},
		{20 * time.Second, 15 * time.Second, 10 * time.Second}, // over before it is told
	} {
		t.Run(fmt.Sprint(tt), inBubble(func(t *testing.T) {
			timing := talossim.DefaultTiming()
			timing.Notice, timing.Report, timing.Pods = tt.notice, tt.report, tt.pods
			w := newWorldWith(t, talossim.Options{Random: rand.Reader, Clock: bubbleClock{}, Timing: timing})
			w.rotating(1)
			begin := w.fleet.Clock().Now()
			w.mustApply(nodeplan.Policy{})
			if took := w.fleet.Clock().Now().Sub(begin); took > 6*time.Minute {
				t.Errorf("it took %s", took)
			}
			for _, name := range []string{"cp-1", "cp-2", "cp-3"} {
				for program, is := range w.fleet.Machine(name).Programs() {
					if !is.Ready {
						t.Errorf("it ended, and %s of %s is not ready", program, name)
					}
				}
			}
		}))
	}
}
