package upgrade_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// fakeServers are the servers of the nodes that the autoscaler made. It makes another one
// for each that is deleted.
type fakeServers struct {
	world *world
	stale string
}

// Stale is what a test has set.
func (s *fakeServers) Stale(ctx context.Context) (string, error) { return s.stale, ctx.Err() }

// Find finds the server whose machine is there.
func (s *fakeServers) Find(ctx context.Context, n kube.Node, group string) (int64, error) {
	if s.world.fleet.Machine(n.Name) == nil || group != "auto" {
		return 0, ctx.Err()
	}
	return int64(len(n.Name)), ctx.Err()
}

// Delete deletes the machine, unless the run ends before.
func (s *fakeServers) Delete(ctx context.Context, _ int64, name string) error {
	k := s.world.kube
	return k.change(ctx, name, func(n *kube.Node) {
		if !n.Drained && !n.Cordoned || !strings.HasPrefix(n.Upgrade, "deleting ") {
			k.violations = append(k.violations, name+" is deleted, drained "+fmt.Sprint(n.Drained)+", marked "+n.Upgrade)
		}
		s.world.fleet.Lose(name)
	})
}

// replace lets the autoscaler make a node in place of one that is gone.
func (w *world) replace() {
	made := len(w.kube.nodes) + 1
	for slices.Contains(w.replaced, made) {
		made++
	}
	w.replaced = append(w.replaced, made)
	spec := talossim.Spec{Name: fmt.Sprint("auto-new-", made), Public: []string{address(100 + made)}, Installed: true, Talos: "v1.14.1", Schematic: schematic, UserData: w.keys.Worker(fmt.Sprint("auto-new-", made))}
	w.fleet.Add(spec).PowerOn()
	w.kube.nodes[spec.Name] = &kube.Node{Name: spec.Name, Kubelet: "v1.35.4", Internal: spec.Public[0]}
}

// recycling lets nodes of the autoscaler be deleted.
func recycling(w *world) *world {
	w.up.Policy.Autoscaled, w.up.Policy.Allow = upgradeplan.Recycle, append(w.up.Policy.Allow, upgradeplan.RiskRecycle)
	return w
}

// waiting is a cluster in which only the nodes of the autoscaler are left.
func waiting(t *testing.T) *world {
	talos := map[string]string{"cp-1": "v1.14.1", "cp-2": "v1.14.1", "cp-3": "v1.14.1", "w-1": "v1.14.1", "auto-1": "v1.13.9", "auto-2": "v1.13.9"}
	return recycling(newWorld(t, talos, func(s *talossim.Spec) {
		if !strings.HasPrefix(s.Name, "auto-") {
			s.Schematic = schematic
		}
	}))
}

// recycled wants new nodes of the autoscaler in place of the old ones.
func (w *world) recycled() {
	w.Helper()
	w.pass(long)
	w.done()
	for _, m := range w.fleet.Machines() {
		if m.Name() == "auto-1" || m.Name() == "auto-2" {
			w.Errorf("%s is there", m.Name())
		}
	}
	if len(w.replaced) != 2 || len(w.kube.nodes) != len(w.fleet.Machines()) {
		w.Errorf("%d nodes were made, %d are registered, and %d machines are there", len(w.replaced), len(w.kube.nodes), len(w.fleet.Machines()))
	}
}

// TestRecycle upgrades a cluster in place, but for the nodes of the autoscaler: these are
// drained and deleted when all others have the new version, the first one alone.
func TestRecycle(t *testing.T) {
	w := recycling(grown(t))
	w.kube.nodes["auto-2"].Cordoned = true // by somebody, for a reason
	w.must(w.run(t.Context()))
	w.recycled()
	for _, text := range w.told {
		if strings.HasPrefix(text, "install auto-") || strings.HasPrefix(text, "pull auto-") {
			t.Error(text)
		}
	}
	first, other := slices.Index(w.told, "delete auto-1: begins"), slices.IndexFunc(w.told, func(s string) bool { return strings.HasPrefix(s, "install w-") && strings.HasSuffix(s, "begins") })
	second := slices.Index(w.told, "delete auto-2: begins")
	if first < 0 || second < first || other < 0 || other > first {
		t.Errorf("auto-1 is deleted at %d, auto-2 at %d, and a worker was installed at %d", first, second, other)
	}
	before := w.kube.calls
	w.must(w.run(t.Context()))
	if w.kube.calls != before {
		t.Error("the second run changes something")
	}
}

// TestRecycleStale: an autoscaler that would make again what is deleted is no reason not
// to upgrade the other nodes, and one not to delete anything.
func TestRecycleStale(t *testing.T) {
	w := recycling(grown(t))
	w.servers.stale = "the autoscaler makes servers as before"
	if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), "R12 the autoscaler makes servers as before") {
		t.Errorf("it says %v", err)
	}
	w.check()
	for name, m := range map[string]string{"cp-3": "v1.14.1", "w-3": "v1.14.1", "auto-1": "v1.12.11", "auto-2": "v1.13.9"} {
		if running, _ := w.fleet.Machine(name).Systems(); running.Talos != m || w.kube.nodes[name].Drained {
			t.Errorf("%s runs %s, drained %v", name, running.Talos, w.kube.nodes[name].Drained)
		}
	}
	w.servers.stale = ""
	w.must(w.run(t.Context()))
	w.recycled()
}

// TestRecycleWithoutConsent deletes nothing.
func TestRecycleWithoutConsent(t *testing.T) {
	w := waiting(t)
	w.up.Policy.Allow = nil
	if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), upgradeplan.RiskRecycle) || w.kube.calls > 0 {
		t.Errorf("it says %v, after %d changes", err, w.kube.calls)
	}
}

// TestRecycleOfOthers: a node whose server is none of the autoscaler's is not deleted, and
// neither is one in whose place another stands by now.
func TestRecycleOfOthers(t *testing.T) {
	for _, c := range []struct {
		name, says string
		harm       func(w *world)
	}{
		{"no server", "the project has no server of its name", func(w *world) {
			w.up.Desired.Pools["burst"] = other(w.up.Desired.Pools["burst"])
			w.kube.nodes["auto-1"].Group, w.kube.nodes["auto-2"].Group = "aut", "aut"
		}},
		{"another server", "another one was to be deleted", func(w *world) {
			w.kube.nodes["auto-1"].Drained, w.kube.nodes["auto-1"].Upgrade = true, "deleting 1.13.9 - boot=77 try=1 run=x"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := waiting(t)
			c.harm(w)
			if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
			w.check()
			if w.fleet.Machine("auto-1") == nil || w.fleet.Machine("auto-2") == nil {
				t.Error("a machine was deleted")
			}
		})
	}
}

// other is a pool of a group that has no servers.
func other(w upgradeplan.Want) upgradeplan.Want { w.Group = "aut"; return w }

// TestRecycleKilled ends a run before and after each change in Kubernetes and at the
// servers: the next one ends with what is desired.
func TestRecycleKilled(t *testing.T) {
	killing{world: waiting, step: 1, ended: (*world).recycled}.atKubernetes(t)
}

// TestRecycleKilledAtNodes is the same for calls to nodes.
func TestRecycleKilledAtNodes(t *testing.T) {
	killing{world: waiting, step: 1 + stride()/10, ended: (*world).recycled}.atNodes(t)
}

// TestRecycleUnreached deletes nodes that are ready, and whose API of Talos is not reached:
// what they run Kubernetes says.
func TestRecycleUnreached(t *testing.T) {
	w := waiting(t)
	w.up.Reach = func(n kube.Node) (*node.Client, error) {
		return nil, fmt.Errorf("node %s: no address leads to it", n.Name)
	}
	w.must(w.run(t.Context()))
	w.recycled()
}
