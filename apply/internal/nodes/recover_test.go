package nodes_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/meta"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/snapshot"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// keptSnapshot is a snapshot that somebody kept.
type keptSnapshot struct {
	data    []byte
	uploads int
}

func (k *keptSnapshot) ID(context.Context) (string, error) {
	info, err := snapshot.Verify(bytes.NewReader(k.data))
	return info.ID(), err
}

func (k *keptSnapshot) Upload(ctx context.Context, to *node.Client) error {
	k.uploads++
	return to.Upload(ctx, bytes.NewReader(k.data))
}

// keep takes a snapshot.
func (w *world) keep() *keptSnapshot {
	w.Helper()
	var data bytes.Buffer
	if err := w.cluster().AskEtcd(context.Background(), func(c *node.Client) error { return c.Snapshot(context.Background(), &data) }); err != nil {
		w.Fatal(err)
	}
	return &keptSnapshot{data: data.Bytes()}
}

// treasure is what Kubernetes had before etcd was lost.
var treasure = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "treasure"}}

// lost is a cluster that had a treasure and has lost its etcd, two snapshots of
// which the second one has no treasure, and new machines.
func lost(t testing.TB) (w *world, right, other *keptSnapshot) {
	t.Helper()
	w = newWorld(t)
	w.made("cp-1")
	other = w.keep()
	w.fleet.Kubernetes("cp-1").Put(treasure)
	right = w.keep()
	w.fleet.Lose("cp-1")
	w.boot("cp-1", "cp-2")
	return w, right, other
}

// serves reports whether there is an etcd, which must have the treasure.
func (w *world) serves() (serves bool) {
	w.Helper()
	for _, m := range w.fleet.Machines() {
		if k := w.fleet.Kubernetes(m.Name()); k != nil {
			serves = true
			if k.Get("ConfigMap", "default", "treasure") == nil {
				w.Fatalf("%s has another etcd than that of the snapshot\n%s", m.Name(), strings.Join(w.told, "\n"))
			}
		}
	}
	return serves
}

// TestRecoveryKilled kills a recovery at each call in turn. Whoever then forgets the snapshot, or takes another one, is refused as
// long as etcd does not serve, and never gets an etcd without the data.
func TestRecoveryKilled(t *testing.T) {
	eachCall(t, min(stride(), 19), func(t *testing.T, call int, after bool) (struck bool) {
		w, right, other := lost(t)
		w.recovery = right
		struck = w.killed(call, after, nodeplan.Policy{})
		begun := w.intents.intent.Snapshot != ""
		w.forgotten(other, begun)
		w.recovery = right
		w.settled(nodeplan.Policy{})
		if !w.serves() || !w.intents.intent.Done {
			t.Errorf("after a kill at call %d: not recovered: %+v", call, w.intents.intent)
		}
		return struck
	})
}

// TestRecoveryKilledWithoutRecord is the same for machines that exist already:
// from the moment at which a control plane has noted the recovery on, nobody gets
// an etcd without the data.
func TestRecoveryKilledWithoutRecord(t *testing.T) {
	noted := 0
	eachCall(t, min(stride(), 11), func(t *testing.T, call int, after bool) (struck bool) {
		w, right, other := lost(t)
		w.forgetful, w.recovery = true, right
		struck = w.killed(call, after, nodeplan.Policy{})
		if w.notes() > 0 {
			noted++
			w.forgotten(other, true)
		}
		w.recovery = right
		w.settled(nodeplan.Policy{})
		if !w.serves() {
			t.Errorf("after a kill at call %d: not recovered", call)
		}
		return struck
	})
	if noted == 0 {
		t.Error("nothing was ever noted")
	}
}

// notes counts the control planes that have noted a recovery.
func (w *world) notes() (count int) {
	for _, m := range w.fleet.Machines() {
		if note := m.Meta(meta.UserReserved3); strings.HasPrefix(note, "talosgen-bootstrap cp-1 ") && !strings.HasPrefix(note, "talosgen-bootstrap cp-1 - ") {
			count++
		}
	}
	return count
}

// TestRecoveryGivenUp: a reset makes machines that exist already forget a
// recovery; what others have noted there stays.
func TestRecoveryGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, right, _ := lost(t)
		w.forgetful, w.recovery = true, right
		w.fleet.Inject(talossim.Fault{Method: "EtcdRecover", Times: -1, As: talossim.Status(codes.InvalidArgument, "no")})
		if _, err := w.apply(t.Context(), nodeplan.Policy{}); err == nil || w.notes() != 2 {
			t.Fatalf("%d notes, %v", w.notes(), err)
		}
		w.fleet.ClearFaults()
		w.recovery = nil
		if _, err := w.apply(t.Context(), nodeplan.Policy{}); err == nil || !strings.Contains(err.Error(), "another run began to recover it from the snapshot") {
			t.Fatal(err)
		}
		if _, err := w.remove(true, "cp-1", "cp-2"); err != nil || w.notes() > 0 {
			t.Fatalf("after the reset: %d notes, %v", w.notes(), err)
		}
		w.mustApply(nodeplan.Policy{})
	})
}

// forgotten applies without the snapshot, and if a recovery has begun with another
// one too.
func (w *world) forgotten(other *keptSnapshot, begun bool) {
	w.Helper()
	for _, recovery := range []*keptSnapshot{nil, other} {
		if recovery != nil && !begun {
			continue
		}
		w.recovery = nil
		if recovery != nil {
			w.recovery = recovery
		}
		w.pass(5 * time.Minute)
		p, err := w.apply(context.Background(), nodeplan.Policy{})
		w.check()
		switch {
		case w.serves() || len(p.Unreachable) > 0:
		case err == nil:
			w.Errorf("nothing serves, and there is no error\n%s", p)
		case !strings.Contains(err.Error(), "bootstrapped before") && !strings.Contains(err.Error(), "another run began to recover it from the snapshot"):
			w.Error(err)
		}
	}
}

// TestRecoveryOfWhatServes: a snapshot is not ignored silently.
func TestRecoveryOfWhatServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1")
		w.recovery = w.keep()
		w.intents.intent = bootstrap.Intent{} // as if it was bootstrapped by hand
		_, err := w.apply(t.Context(), nodeplan.Policy{})
		if err == nil || !strings.Contains(err.Error(), "etcd serves on cp-1 already; the snapshot would be ignored") || w.intents.intent.Done {
			t.Errorf("%v, %+v", err, w.intents.intent)
		}
		w.recovery = nil
		w.mustApply(nodeplan.Policy{})
		if steps := w.steps(); steps != "record etcd" || !w.intents.intent.Done {
			t.Errorf("%s, %+v", steps, w.intents.intent)
		}
	})
}
