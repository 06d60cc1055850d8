package nodes_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/snapshot"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// remove takes nodes out, and wipes them if they are to be. It returns the
// steps that were taken.
func (w *world) remove(wipe bool, names ...string) (string, error) {
	w.make, w.leaving = func(d nodeplan.Desired, o nodeplan.Observed, p nodeplan.Policy) (*nodeplan.Plan, error) {
		if wipe && nodeplan.EndsEtcd(d, o, names...) {
			return nodeplan.ResetAll(d, o, p, names...), nil
		}
		return nodeplan.PlanRemoval(d, o, p, wipe, names...)
	}, names
	defer func() { w.make, w.leaving = nil, nil }()
	w.steps()
	c := w.cluster()
	_, err := w.applyAs(context.Background(), c, nodeplan.Policy{Allow: names, Trust: names})
	if err == nil && wipe {
		err = c.Forget(context.Background(), names...)
	}
	w.check()
	return w.steps(), err
}

// running is a cluster that runs, and is known to Kubernetes.
func running(t *testing.T, names ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.boot(names...)
	w.mustApply(nodeplan.Policy{})
	w.kube.register(names...)
	return w
}

// TestReplace takes a control plane out, wipes its machine, and lets it join
// again: then everything is as before.
func TestReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, "cp-1", "cp-2", "cp-3", "w-1")
		steps, err := w.remove(true, "cp-2")
		const want = "health cluster, snapshot cp-2, drain cp-2, transfer-leadership cp-2, leave cp-2, verify cp-2, delete-node cp-2, reset cp-2"
		if err != nil || steps != want {
			t.Fatalf("%v: %s", err, steps)
		}
		if w.fleet.Machine("cp-2").Config() != "" {
			t.Error("its machine still has a configuration")
		}
		if steps, err := w.remove(true, "cp-2"); err != nil || steps != "" {
			t.Errorf("again: %v: %s", err, steps)
		}
		w.mustApply(nodeplan.Policy{Only: []string{"cp-2"}})
		if steps := w.steps(); !strings.HasSuffix(steps, "configure cp-2, join cp-2") {
			t.Error(steps)
		}
		w.mustApply(nodeplan.Policy{})
		if steps := w.steps(); steps != "" {
			t.Errorf("something is left: %s", steps)
		}
	})
}

// TestTakeOutDead takes a control plane out that is dead, by the id of its
// member; one more is one too many.
func TestTakeOutDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, "cp-1", "cp-2", "cp-3")
		w.lose("cp-2")
		steps, err := w.remove(false, "cp-2")
		if err != nil || steps != "health cluster, snapshot cp-2, remove-member cp-2, verify cp-2, delete-node cp-2" {
			t.Fatalf("%v: %s", err, steps)
		}
		w.lose("cp-3")
		if steps, err := w.remove(false, "cp-3"); err == nil || !strings.Contains(err.Error(), "it must not be removed: ") {
			t.Errorf("%v: %s", err, steps)
		}
	})
}

// TestTakeOutWorker wipes a worker: its pods leave, and Kubernetes forgets it.
func TestTakeOutWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, "cp-1", "w-1", "w-2")
		steps, err := w.remove(true, "w-2")
		if err != nil || steps != "drain w-2, delete-node w-2, reset w-2" {
			t.Fatalf("%v: %s", err, steps)
		}
		if w.fleet.Machine("w-2").Config() != "" || w.fleet.Machine("w-1").Config() == "" {
			t.Error("another machine was wiped")
		}
	})
}

// TestResetAndRecover ends a cluster, with a snapshot, and brings it back from
// that on the same machines: then there is one etcd, with all members.
func TestResetAndRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, "cp-1", "cp-2", "cp-3", "w-1")
		var saved bytes.Buffer
		if err := w.cluster().AskEtcd(t.Context(), func(c *node.Client) error { return c.Snapshot(t.Context(), &saved) }); err != nil {
			t.Fatal(err)
		}
		if _, err := snapshot.Verify(bytes.NewReader(saved.Bytes())); err != nil {
			t.Errorf("the snapshot: %v", err)
		}
		w.fleet.LetEnd()
		steps, err := w.remove(true, "cp-1", "cp-2", "cp-3")
		if err != nil || !strings.HasPrefix(steps, "snapshot etcd, reset ") || strings.Count(steps, "reset cp-") != 3 || strings.Contains(steps, "w-1") {
			t.Fatalf("%v: %s", err, steps)
		}

		// Without the snapshot there is no second etcd of the same cluster.
		if p, err := w.apply(t.Context(), nodeplan.Policy{}); err == nil || !strings.Contains(err.Error(), "with --recover-from a snapshot it gets its data back") {
			t.Fatalf("without a snapshot: %v, %v", p, err)
		}
		w.steps()
		back := &keptSnapshot{data: saved.Bytes()}
		w.recovery = back
		w.mustApply(nodeplan.Policy{})
		if steps := w.steps(); !strings.Contains(steps, "bootstrap etcd") || back.uploads != 1 {
			t.Errorf("%d uploads: %s", back.uploads, steps)
		}
		w.mustApply(nodeplan.Policy{})
		if steps := w.steps(); steps != "" || back.uploads != 1 {
			t.Errorf("something is left: %s", steps)
		}
	})
}

// TestTakeOutKilled ends a run at each call in turn, before its effect and after;
// a second one always ends with the machines in maintenance mode, as new ones.
func TestTakeOutKilled(t *testing.T) {
	for _, names := range [][]string{{"cp-1", "cp-2", "cp-3", "w-1"}, {"cp-2"}} {
		eachCall(t, stride(), func(t *testing.T, call int, after bool) (struck bool) {
			w := running(t, "cp-1", "cp-2", "cp-3", "w-1")
			if len(names) > 3 {
				w.fleet.LetEnd()
			}
			w.fleet.ResetCalls()
			w.fleet.Inject(talossim.Fault{Call: call, After: after, Then: func() { struck = true }})
			_, _ = w.remove(true, names...)
			w.fleet.ClearFaults()
			if _, err := w.remove(true, names...); err != nil {
				t.Fatalf("after a fault at call %d: %v", call, err)
			}
			for _, name := range names {
				if w.fleet.Machine(name).Config() != "" {
					t.Errorf("after a fault at call %d: %s is not wiped", call, name)
				}
				if record := w.records.Of(w.find(name)); record.State != newonce.Blank {
					t.Errorf("after a fault at call %d: %s is recorded as %+v", call, name, record)
				}
			}
			return struck
		})
	}
}
