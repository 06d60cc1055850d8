package upgrade_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// lately is a cluster that was upgraded by a patch, with two bootloaders, and goes back:
// that is what world.done wants then.
func lately(t *testing.T) *world {
	t.Helper()
	talos := map[string]string{"cp-1": "v1.14.0", "cp-2": "v1.14.0", "cp-3": "v1.14.0", "w-1": "v1.14.0", "w-2": "v1.14.0"}
	w := newWorld(t, talos)
	w.must(w.run(t.Context()))
	w.done()
	w.up.Policy.Rollback = true
	w.told, w.saved, w.kube.calls = nil, 0, 0
	return w
}

// back wants every node to run the Talos of before, and the newer one to be its other
// system.
func (w *world) back() {
	w.Helper()
	w.check()
	for _, m := range w.fleet.Machines() {
		running, other := m.Systems()
		n := w.kube.nodes[m.Name()]
		if running != (talossim.System{Talos: "v1.14.0", Schematic: older}) || other.Talos != "v1.14.1" || n.Drained || n.Upgrade != "" || m.Stage() != "running" || !strings.HasSuffix(n.Before, " back") {
			w.Errorf("%s runs %v beside %v, drained %v, marked %q, note %q", m.Name(), running, other, n.Drained, n.Upgrade, n.Before)
		}
	}
}

// TestRollback brings a whole cluster back, one node at a time and workers first, with one
// snapshot. A second run does nothing, and an upgrade is refused until Git has the older
// Talos or somebody wants the newer one once more.
func TestRollback(t *testing.T) {
	w := lately(t)
	w.kube.nodes["w-2"].Cordoned = true // by somebody, for a reason
	w.must(w.run(t.Context()))
	w.back()
	if order := strings.Join(w.began("rollback "), ", "); !strings.HasPrefix(order, "rollback w-1, rollback w-2, rollback cp-") || len(w.began("rollback ")) != 5 || w.saved != 1 {
		t.Errorf("%s, and %d snapshots", order, w.saved)
	}
	if !w.kube.nodes["w-2"].Cordoned {
		t.Error("w-2 is not cordoned any more")
	}
	w.still(t, "")
	w.up.Policy.Rollback = false
	w.still(t, "it was rolled back from Talos v1.14.1 to v1.14.0")
	w.up.Policy.Retry = slices.Sorted(maps.Keys(w.kube.nodes))
	w.must(w.run(t.Context()))
	w.done()
}

// still is a run that changes nothing, and says why.
func (w *world) still(t *testing.T, why string) {
	t.Helper()
	w.fleet.ResetCalls()
	calls := w.kube.calls
	if err := w.run(t.Context()); (why == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), why) {
		t.Errorf("it says %v", err)
	}
	for _, c := range w.fleet.Calls() {
		if slices.Contains([]string{"Reboot", "Rollback", "EtcdForfeitLeadership"}, c.Method) {
			t.Errorf("it calls %s of %s", c.Method, c.Machine)
		}
	}
	if w.kube.calls != calls {
		t.Errorf("it changes %d things in Kubernetes", w.kube.calls-calls)
	}
}

// TestRollbackKilled ends a run before and after each call to a node, and each change in
// Kubernetes.
func TestRollbackKilled(t *testing.T) {
	killing{world: lately, step: 1 + stride()/5, ended: (*world).back}.atNodes(t)
	killing{world: lately, step: 1, method: "Rollback", ended: (*world).back}.atNodes(t)
}

// TestRollbackKilledAtKubernetes is the same for changes in Kubernetes.
func TestRollbackKilledAtKubernetes(t *testing.T) {
	killing{world: lately, step: 1 + stride()/60, ended: (*world).back}.atKubernetes(t)
}

// TestRollbackOfTheBroken: the first control plane node with a Talos that starts, and
// whose etcd does not, goes back, though its minor is another one.
func TestRollbackOfTheBroken(t *testing.T) {
	w := newWorld(t, map[string]string{"cp-1": "v1.13.9", "cp-2": "v1.13.9", "cp-3": "v1.13.9", "w-1": "v1.13.9"})
	w.up.Policy.Until = upgradeplan.First
	w.must(w.run(t.Context()))
	w.up.Policy.Until, w.up.Policy.Rollback = upgradeplan.ToTheEnd, true
	var name string
	for _, m := range w.fleet.Machines() {
		if running, _ := m.Systems(); running.Talos == "v1.14.1" {
			name = m.Name()
		}
	}
	w.fleet.Inject(talossim.Fault{Machine: name, Method: "EtcdStatus", Times: -1, As: talossim.Status(codes.Unavailable, "error reading from server: EOF")})
	w.up.Policy.Nodes = []string{name}
	err := w.run(t.Context())
	if running, _ := w.fleet.Machine(name).Systems(); running.Talos != "v1.13.9" {
		t.Errorf("%s runs %v: %v", name, running, err)
	}
	w.fleet.ClearFaults()
	w.must(w.run(t.Context()))
	w.check()
	if n := w.kube.nodes[name]; n.Drained || n.Upgrade != "" {
		t.Errorf("%s: drained %v, marked %q", name, n.Drained, n.Upgrade)
	}
}

// TestRollbackStops has what ends a rollback, and how it goes on.
func TestRollbackStops(t *testing.T) {
	for _, c := range []struct {
		name, says string
		harm       func(w *world)
		mend       func(w *world)
	}{
		{"the other system is gone", "go back to the Talos of before: cannot rollback", func(w *world) {
			w.fleet.Inject(talossim.Fault{Machine: "w-1", Method: "Rollback", Times: -1, As: talossim.Status(codes.Unknown, "cannot rollback to \"\", label does not exist")})
		}, func(w *world) { w.fleet.ClearFaults() }},
		{"a budget does not let pods go", "a budget", func(w *world) { w.kube.stuck = "w-2" }, func(w *world) { w.kube.stuck = "" }},
		{"a control plane is away", "R11", func(w *world) { w.fleet.Machine("cp-3").Cut() }, func(w *world) { w.fleet.Machine("cp-3").Heal() }},
		{"another Talos is there", "is not known: no talosgen upgrade", func(w *world) {
			w.kube.nodes["w-1"].Before = strings.ReplaceAll(w.kube.nodes["w-1"].Before, "1.14.1", "1.14.2")
		},
			func(w *world) {
				w.kube.nodes["w-1"].Before = strings.ReplaceAll(w.kube.nodes["w-1"].Before, "1.14.2", "1.14.1")
			}},
		{"an unreadable note", "cannot be read", func(w *world) { w.kube.nodes["w-1"].Before = "levitating" }, func(w *world) {
			w.kube.nodes["w-1"].Before = w.kube.nodes["w-2"].Before
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lately(t)
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
			w.back()
		})
	}
}

// newReturn is a schedule of runs that let a cluster go back, by a patch.
func newReturn(t *testing.T, seed int64) *schedule {
	s := &schedule{Rand: rand.New(rand.NewPCG(uint64(seed), 23)), seed: seed, kinds: 12, goal: talossim.System{Talos: "v1.14.0", Schematic: older}}
	s.begin(lately(t))
	for name := range s.extensions { // it goes back to an image with fewer
		s.extensions[name] = extensionsOf[older]
	}
	return s
}

// TestRollbackSchedules: whatever befalls runs that let a cluster go back, no invariant
// breaks at any call, and in the end every node runs the Talos of before.
func TestRollbackSchedules(t *testing.T) {
	for _, seed := range seeds(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := newReturn(t, seed)
			for run, done := 0, false; !done; run++ {
				if run > 40 {
					s.fail([]string{"no run is done"})
				}
				done = s.once(max(0, s.IntN(6)-run/3))
			}
			s.back()
		})
	}
}
