package upgrade_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestBad has what is wrong in the world around a cluster before anything begins: the
// run says what it is, and nothing is disturbed.
func TestBad(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(w *world)
		says string
	}{
		{"the factory does not know the schematic", func(w *world) {
			w.fleet.Inject(talossim.Fault{Method: "*Pull", Times: -1, As: talossim.Status(codes.NotFound, "failed to resolve reference: not found")})
		}, "not found"},
		{"one node cannot pull it", func(w *world) {
			w.fleet.Inject(talossim.Fault{Machine: "w-3", Method: "*Pull", Times: -1, As: talossim.Status(codes.NotFound, "failed to resolve reference: not found")})
		}, "node w-3: "},
		{"the clock of a control plane node is wrong", func(w *world) { w.fleet.Machine("cp-2").Skew(-2 * time.Hour) }, "R11 the control plane node does not let you in: "},
		{"what apply must do first", func(w *world) { w.drift = []string{"machine.sysctls of w-1"} }, "R12 machine.sysctls of w-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, mixed)
			c.harm(w)
			w.fleet.ResetCalls()
			if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
			w.check()
			if w.kube.calls > 0 || w.saved > 0 {
				t.Errorf("%d changes in Kubernetes, %d snapshots", w.kube.calls, w.saved)
			}
			for _, call := range w.fleet.Calls() {
				if strings.HasSuffix(call.Method, "Upgrade") || call.Method == "Reboot" || call.Method == "ApplyConfiguration" {
					t.Errorf("%s of %s", call.Method, call.Machine)
				}
			}
		})
	}
}
