package upgrade_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
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
		{"two nodes have one name", func(w *world) {
			_, err := w.admin("w-3").Apply(w.Context(), secret.New(w.keys.Worker("w-2")), node.NoReboot)
			w.must(err)
			w.pass(time.Minute)
		}, "node w-3: it and w-2 are the same node w-2 in Kubernetes"},
		{"a node has a name that nobody knows", func(w *world) {
			_, err := w.admin("w-3").Apply(w.Context(), secret.New(w.keys.Worker("talos-1a2b3c")), node.NoReboot)
			w.must(err)
			w.pass(time.Minute)
		}, "node w-3: it is the node talos-1a2b3c in Kubernetes"},
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

// TestAccessDenied: nodes that do not accept the certificate are told of as such, with the exit
// code for it, and nothing else is. A worker of that kind is left like one that is away.
func TestAccessDenied(t *testing.T) {
	for _, c := range []struct {
		name string
		shut []string
		says []string
	}{
		{"control planes", []string{"cp-1", "cp-2", "cp-3"}, []string{"node cp-1: R11 ", "node cp-2: R11 ", "node cp-3: R11 "}},
		{"a worker", []string{"w-2"}, []string{"node w-2: it does not let you in, and was left as it is: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, mixed)
			for _, name := range c.shut {
				w.fleet.Machine(name).Skew(-2 * time.Hour)
			}
			err := w.run(t.Context())
			if err == nil {
				err = w.unreached
			}
			var list diag.List
			list.AddErr(err)
			if diag.CodeOf(err) != diag.Secrets || len(list) != len(c.says) {
				t.Fatalf("exit code %d: %v", diag.CodeOf(err), err)
			}
			for i, p := range list {
				if text := p.Error(); !strings.HasPrefix(text, c.says[i]) || !strings.Contains(text, "is the clock of this machine right") {
					t.Errorf("it says %s", text)
				}
			}
			w.check()
		})
	}
}
