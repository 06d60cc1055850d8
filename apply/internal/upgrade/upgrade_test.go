package upgrade_test

import (
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// long is enough for everything that machines do by themselves.
const long = 10 * time.Minute

// mixed is a cluster that an upgrade was interrupted in long ago.
var mixed = map[string]string{"cp-1": "v1.12.11", "cp-2": "v1.13.9", "cp-3": "v1.13.9", "w-1": "v1.12.11", "w-2": "v1.13.9", "w-3": "v1.12.11"}

// TestUpgrade brings nodes of three versions, with two bootloaders, to Git's.
func TestUpgrade(t *testing.T) {
	w := newWorld(t, mixed)
	w.kube.nodes["w-2"].Cordoned = true // by somebody, for a reason
	w.must(w.run(t.Context()))
	w.done()
	if !w.kube.nodes["w-2"].Cordoned {
		t.Error("w-2 is not cordoned any more")
	}
	if w.saved != 2 {
		t.Errorf("etcd was saved %d times, not once for each hop", w.saved)
	}
	w.fleet.ResetCalls()
	w.must(w.run(t.Context()))
	for _, c := range w.fleet.Calls() {
		if c.Method == "Reboot" || c.Method == "Pull" {
			t.Errorf("the second run calls %s of %s", c.Method, c.Machine)
		}
	}
}

// grown is that cluster with two nodes that the autoscaler made.
func grown(t *testing.T) *world {
	talos := maps.Clone(mixed)
	talos["auto-1"], talos["auto-2"] = "v1.12.11", "v1.13.9"
	return newWorld(t, talos)
}

// stride is how many calls are left out between two that are tried: none at night. All
// of them, with the schedules of [seeds], take about 45 minutes of processor time.
func stride() int {
	switch {
	case os.Getenv("TALOSGEN_TESTENV_NIGHTLY") != "":
		return 0
	case os.Getenv(talosenv.Full) != "":
		return 150
	}
	return 250
}

// TestKilled ends a run before and after each call to a node: the next one ends with
// what is desired, and nothing that must never happen does.
func TestKilled(t *testing.T) {
	killing{world: grown, step: 1 + stride(), ended: (*world).done}.atNodes(t)
}

// TestKilledAtKubernetes is the same for calls to Kubernetes.
func TestKilledAtKubernetes(t *testing.T) {
	killing{world: grown, step: 1 + stride()/15, ended: (*world).done}.atKubernetes(t)
}

// TestStops has what ends an upgrade, and how it goes on.
func TestStops(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(w *world)
		says string
		mend func(w *world)
	}{
		{"the new Talos fails", func(w *world) { w.fleet.Machine("cp-2").Break("v1.14.1", talossim.Reverts) },
			"Talos went back to v1.13.9", func(w *world) { w.fleet.Machine("cp-2").Mend(); w.up.Policy.Retry = []string{"cp-2"} }},
		{"the installer fails", func(w *world) { w.fleet.Machine("w-2").FailInstall(7) },
			"installer of Talos v1.14.1 failed", func(w *world) { w.up.Policy.Retry = []string{"w-2"} }},
		{"a budget does not let pods go", func(w *world) { w.kube.stuck = "w-3" }, "a budget", func(w *world) { w.kube.stuck = "" }},
		{"a control plane is away", func(w *world) { w.fleet.Machine("cp-3").Cut() }, "R11", func(w *world) { w.fleet.Machine("cp-3").Heal() }},
		{"no consent", func(w *world) { w.up.Policy.Allow = w.up.Policy.Allow[:1] }, "C-no-return", func(w *world) { w.up.Policy.Allow = append(w.up.Policy.Allow[:1], "C-no-return") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, mixed)
			c.harm(w)
			if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
			w.check()
			for name, n := range w.kube.nodes {
				if n.Drained {
					t.Errorf("%s is left cordoned", name)
				}
			}
			c.mend(w)
			w.pass(long)
			w.must(w.run(t.Context()))
			w.done()
		})
	}
}

// TestLostInstall loses the answer of an installer that goes on: nobody calls it
// again, and the node boots what it has.
func TestLostInstall(t *testing.T) {
	w := newWorld(t, mixed)
	w.fleet.Inject(talossim.Fault{Machine: "cp-2", Method: "Upgrade", Times: -1, As: talossim.CutAfter(1)})
	w.fleet.Inject(talossim.Fault{Machine: "w-1", Method: "Reboot", After: true, As: talossim.Status(codes.Unavailable, "error reading from server: EOF")})
	w.must(w.run(t.Context()))
	w.done()
}
