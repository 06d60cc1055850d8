package nodes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/meta"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// static is a world of machines that exist already, in maintenance mode: no lock
// keeps runs apart.
func static(t *testing.T, names ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.forgetful = true
	w.boot(names...)
	w.fleet.ResetCalls()
	return w
}

// calledOnce wants one call of Bootstrap.
func (w *world) calledOnce() {
	w.Helper()
	calls := 0
	for _, c := range w.fleet.Calls() {
		if c.Method == "Bootstrap" {
			calls++
		}
	}
	if calls != 1 {
		w.Errorf("called %d times\n%s", calls, strings.Join(w.told, "\n"))
	}
}

// toldOf counts what was told with these words.
func (w *world) toldOf(words string) int { return strings.Count(strings.Join(w.told, "\n"), words) }

// off is a clock that is wrong.
type off struct {
	node.Clock
	by time.Duration
}

// Now is wrong.
func (o off) Now() time.Time { return o.Clock.Now().Add(o.by) }

// TestTurns: of two runs that no lock keeps apart one calls, and the other one waits
// for it, also if the clock of one of them is wrong.
func TestTurns(t *testing.T) {
	for _, by := range []time.Duration{0, -time.Hour, time.Hour} {
		t.Run(by.String(), inBubble(func(t *testing.T) {
			w := static(t, "cp-1", "cp-2", "cp-3")
			var both sync.WaitGroup
			for _, by := range []time.Duration{0, by} {
				c := w.cluster()
				c.Clock = off{c.Clock, by}
				both.Go(func() { _, _ = w.applyAs(t.Context(), c, nodeplan.Policy{}) }) // one of them may meet the other
			}
			both.Wait()
			w.settled(nodeplan.Policy{})
			w.calledOnce()
		}))
	}
}

// TestTurnLeft: a run that is killed after it has announced itself, or after it has
// noted that it calls, is waited for; then the next one calls.
func TestTurnLeft(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fault  talossim.Fault
		words  int // of what is noted then
		waited time.Duration
	}{
		{"announced on one", talossim.Fault{Method: "MetaWrite", After: true}, 7, bootstrap.Dead * time.Second},
		{"before the call", talossim.Fault{Method: "Bootstrap", As: talossim.Drop()}, 5, bootstrap.Pause * time.Second},
	} {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := static(t, "cp-1", "cp-2")
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			tt.fault.Then = kill
			w.fleet.Inject(tt.fault)
			if _, err := w.apply(ctx, nodeplan.Policy{}); err == nil {
				t.Fatal("it was not killed")
			}
			if note := w.fleet.Machine("cp-1").Meta(meta.UserReserved3); len(strings.Fields(note)) != tt.words {
				t.Errorf("it has noted %q", note)
			}
			w.fleet.ResetCalls()
			begin := w.fleet.Clock().Now()
			w.mustApply(nodeplan.Policy{})
			if waited := w.fleet.Clock().Now().Sub(begin); waited < tt.waited {
				t.Errorf("it waited %v only", waited)
			}
			w.calledOnce()
			if note := w.fleet.Machine("cp-1").Meta(meta.UserReserved3); note != "" {
				t.Errorf("there still is noted %q", note)
			}
		}))
	}
}

// TestTurnTooSlow: an announcement that took too long does not count, nor does one
// that the snapshot has outlasted; the run announces itself again.
func TestTurnTooSlow(t *testing.T) {
	t.Run("notes", inBubble(func(t *testing.T) {
		w := static(t, "cp-1", "cp-2")
		w.fleet.Inject(talossim.Fault{Method: "MetaWrite", As: talossim.Slow(bootstrap.Hold * time.Second)})
		w.mustApply(nodeplan.Policy{})
		if n := w.toldOf("says on the control planes"); n < 2 {
			t.Errorf("announced %d times\n%s", n, strings.Join(w.told, "\n"))
		}
		w.calledOnce()
	}))
	t.Run("the snapshot", inBubble(func(t *testing.T) {
		w, right, _ := lost(t)
		w.forgetful, w.recovery = true, right
		w.fleet.ResetCalls()
		w.fleet.Inject(talossim.Fault{Method: "EtcdRecover", As: talossim.Slow(bootstrap.Valid * time.Second)})
		w.mustApply(nodeplan.Policy{})
		if n := w.toldOf("says on the control planes"); n < 2 || right.uploads != 1 {
			t.Errorf("announced %d times, uploaded %d times\n%s", n, right.uploads, strings.Join(w.told, "\n"))
		}
		w.calledOnce()
		w.serves()
	}))
}

// TestTurnOfContainers: where nothing can be noted nobody waits.
func TestTurnOfContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := static(t, "cp-1", "cp-2")
		w.fleet.Inject(talossim.Fault{Method: "MetaWrite", Times: -1, As: talossim.Status(codes.FailedPrecondition, "method is not supported in container mode")})
		w.mustApply(nodeplan.Policy{})
		if n := w.toldOf("another run"); n > 0 {
			t.Errorf("it waited\n%s", strings.Join(w.told, "\n"))
		}
		w.calledOnce()
	})
}

// TestTurnKilled kills a run that no lock keeps apart at each call in turn. The next
// one ends with what was desired: etcd was not called while it began.
func TestTurnKilled(t *testing.T) {
	eachCall(t, min(stride(), 13), func(t *testing.T, call int, after bool) (struck bool) {
		w := static(t, "cp-1", "cp-2")
		struck = w.killed(call, after, nodeplan.Policy{})
		w.settled(nodeplan.Policy{})
		return struck
	})
}

// TestOlderNotes: what a talosgen has noted that did not announce itself is understood.
func TestOlderNotes(t *testing.T) {
	for _, tt := range []struct{ name, note, says string }{
		{"a recovery has begun", "talosgen-bootstrap cp-1 X - 0", "another run began to recover it from the snapshot X"},
		{"another node was called", "talosgen-bootstrap cp-9 - a-boot 1", "another run began to bootstrap cp-9, which this tree does not have"},
		{"the boot is called", "talosgen-bootstrap cp-1 - BOOT 1", "etcd was told to begin on cp-1, and has no data yet"},
	} {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := static(t, "cp-1", "cp-2")
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			w.fleet.Inject(talossim.Fault{Method: "MetaWrite", As: talossim.Drop(), Then: kill})
			if _, err := w.apply(ctx, nodeplan.Policy{}); err == nil {
				t.Fatal("it was not killed")
			}
			w.jot("cp-2", tt.note)
			_, err := w.apply(t.Context(), nodeplan.Policy{})
			if said := fmt.Sprint(err) + strings.Join(w.told, "\n"); !strings.Contains(said, tt.says) {
				t.Errorf("it does not say %q, but\n%s", tt.says, said)
			}
		}))
	}
}

// jot writes a note on a node; BOOT in it is the boot of cp-1.
func (w *world) jot(name, note string) {
	w.Helper()
	c := w.cluster()
	defer c.Clients.Close()
	client := func(name string) *node.Client {
		i := slices.IndexFunc(w.machines, func(m nodes.Machine) bool { return m.Name == name })
		client, err := c.Connect(w.machines[i])
		if err != nil {
			w.Fatal(err)
		}
		return client
	}
	boot, err := client("cp-1").BootID(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if noted, err := client(name).WriteNote(w.Context(), strings.ReplaceAll(note, "BOOT", boot)); err != nil || !noted {
		w.Fatal(noted, err)
	}
}
