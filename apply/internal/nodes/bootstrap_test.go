package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sim/talossim/simtest"
)

// situations are what bootstrap may meet; each is prepared from machines in
// maintenance mode, and says what is to come of it: whether etcd serves in the
// end, and what is said if not.
var situations = []struct {
	name    string
	prepare func(w *world)
	want    string // empty: a cluster
}{
	{"fresh, one control plane", func(w *world) { w.boot("cp-1") }, ""},
	{"fresh, three", func(w *world) { w.boot("cp-1", "cp-2", "cp-3", "w-1") }, ""},
	{"fresh, five", func(w *world) { w.boot("cp-1", "cp-2", "cp-3", "cp-4", "cp-5") }, ""},
	{"done already", func(w *world) { w.made("cp-1", "cp-2", "cp-3") }, ""},
	{"done, and nobody recorded it", func(w *world) { w.made("cp-1"); w.intents.intent = bootstrap.Intent{} }, ""},
	{"done, and not recorded as done", func(w *world) {
		w.made("cp-1", "cp-2", "cp-3")
		w.intents.intent.Done = false
	}, ""},
	{"recorded, and never called", func(w *world) {
		w.boot("cp-1", "cp-2")
		w.intents.intent = bootstrap.Intent{Node: "cp-2", Machine: w.machines[1].ID}
	}, ""},
	{"the first one was replaced after it was recorded", func(w *world) {
		w.boot("cp-1", "cp-2")
		w.intents.intent = bootstrap.Intent{Node: "cp-1", Machine: "another machine"}
	}, ""},
	{"recorded for a node that the tree does not have", func(w *world) {
		w.boot("cp-2", "cp-3")
		w.intents.intent = bootstrap.Intent{Node: "cp-1", Machine: "1"}
	}, "another run began to bootstrap cp-1, which this tree does not have"},
	{"one is not reached", func(w *world) { w.boot("cp-1", "cp-2", "cp-3"); w.fleet.Machine("cp-2").Cut() }, "it is unknown whether there is etcd on cp-2"},
	{"the first is not reached", func(w *world) { w.boot("cp-1", "cp-2", "cp-3"); w.fleet.Machine("cp-1").PowerOff() }, "it is unknown whether there is etcd on cp-1"},
	{"one accepts connections and is silent", func(w *world) { w.boot("cp-1", "cp-2"); w.fleet.Machine("cp-2").Silence() }, "it is unknown whether there is etcd on cp-2"},
	{"one that only has the labels is not reached", func(w *world) { w.boot("cp-1", "cp-9"); w.drop("cp-9"); w.fleet.Machine("cp-9").PowerOff() }, "it must not be removed: the state of etcd is unknown"},
	{"one that only has the labels has etcd", func(w *world) { w.made("cp-9"); w.drop("cp-9"); w.boot("cp-1") }, "node/cp-9: removing it needs consent"},
	{"etcd serves on the second only", func(w *world) { w.made("cp-2"); w.boot("cp-1") }, ""},
	{"all etcd is lost, and it was recorded as done", func(w *world) {
		w.boot("cp-1", "cp-2")
		w.intents.intent = bootstrap.Intent{Node: "cp-1", Machine: "old", Done: true}
	}, "was bootstrapped before, and no control plane has etcd any more"},
	{"one belongs to another cluster", func(w *world) {
		w.boot("cp-1", "cp-2")
		other := newWorldOf(w, simtest.NewCluster(w, "other"))
		other.mustApply(nodeplan.Policy{Only: []string{"cp-2"}})
	}, "another machine, or a node of another cluster, answers"},
	{"etcd was lost with its quorum", func(w *world) {
		w.made("cp-1", "cp-2", "cp-3")
		w.fleet.Machine("cp-2").PowerOff()
		w.fleet.Machine("cp-3").PowerOff()
	}, "not reached"},
	{"a reboot just before", func(w *world) {
		w.boot("cp-1", "cp-2")
		w.fleet.Inject(talossim.Fault{Method: "Bootstrap", As: talossim.Drop(), Then: func() {
			w.fleet.Machine("cp-1").PowerOff()
			w.fleet.Machine("cp-1").PowerOn()
		}})
	}, ""},
	{"the answer is lost", func(w *world) {
		w.boot("cp-1", "cp-2", "cp-3")
		w.fleet.Inject(talossim.Fault{Method: "Bootstrap", After: true, As: talossim.Drop()})
	}, ""},
	{"the call is lost, five times", func(w *world) {
		w.boot("cp-1", "cp-2", "cp-3")
		w.fleet.Inject(talossim.Fault{Method: "Bootstrap", As: talossim.Drop(), Times: 5})
	}, "not bootstrapped within 10m0s"},
	{"somebody else called it again, just as etcd began", func(w *world) {
		w.boot("cp-1", "cp-2")
		ctx, kill := context.WithCancel(w.Context())
		w.fleet.Inject(talossim.Fault{Method: "Bootstrap", After: true, Then: kill})
		_, _ = w.apply(ctx, nodeplan.Policy{})
		_ = w.fleet.Clock().Sleep(w.Context(), 5*time.Second)
		client, err := w.cluster().Connect(w.machines[0])
		if err == nil {
			err = client.Bootstrap(w.Context(), false)
		}
		if err == nil {
			w.Fatal("etcd was not stopped")
		}
	}, "etcd has data on cp-1 (its etcd is Finished), but does not serve"},
	{"the call is lost", func(w *world) {
		w.boot("cp-1", "cp-2", "cp-3")
		w.fleet.Inject(talossim.Fault{Method: "Bootstrap", As: talossim.Drop()})
	}, ""},
	{"the first dies right after the call", func(w *world) {
		w.boot("cp-1", "cp-2", "cp-3")
		w.fleet.Inject(talossim.Fault{Method: "Bootstrap", After: true, As: talossim.Drop(), Then: func() { w.fleet.Machine("cp-1").PowerOff() }})
	}, "cp-1"},
}

// newWorldOf is another cluster with the same machines.
func newWorldOf(w *world, keys *simtest.Cluster) *world {
	other := &world{TB: w.TB, fleet: w.fleet, keys: keys, kube: &fakeKube{drained: map[string]bool{}}, intents: &intents{}, records: newRecords(true), want: map[string]string{}}
	for _, m := range w.machines {
		if m.Name == "cp-2" {
			other.machines = []nodes.Machine{m}
			other.configure(m.Name)
		}
	}
	return other
}

// TestBootstrapSituations: never a second etcd cluster, and never one where it
// is not sure that there is none.
func TestBootstrapSituations(t *testing.T) {
	for _, tt := range situations {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			p, err := w.apply(t.Context(), nodeplan.Policy{})
			w.check()
			said := fmt.Sprint(err)
			if p != nil {
				said += p.String()
			}
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%v\n%s", err, strings.Join(w.told, "\n"))
			case tt.want != "" && !strings.Contains(said, tt.want):
				t.Errorf("it does not say %q, but\n%s", tt.want, said)
			case tt.want == "" && !w.intents.intent.Done:
				t.Error("it was not recorded")
			}
		}))
	}
}

// TestCalledOnce: a run that looks often does not call the same boot again while
// etcd begins, nor does the next run at once after it was killed: with a second
// call Talos would stop an etcd that has just begun, for good.
func TestCalledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, forgetful := range []bool{false, true} {
			for _, killed := range []bool{false, true} {
				w := newWorld(t)
				w.every, w.forgetful = 2*time.Second, forgetful
				w.boot("cp-1")
				w.fleet.ResetCalls()
				ctx, kill := context.WithCancel(t.Context())
				if killed {
					w.fleet.Inject(talossim.Fault{Method: "Bootstrap", After: true, Then: kill})
					if _, err := w.apply(ctx, nodeplan.Policy{}); err == nil {
						t.Fatal("it was not killed")
					}
				}
				w.mustApply(nodeplan.Policy{})
				calls := 0
				for _, c := range w.fleet.Calls() {
					if c.Method == "Bootstrap" {
						calls++
					}
				}
				if calls != 1 {
					t.Errorf("forgetful %v, killed %v: %d calls", forgetful, killed, calls)
				}
				kill()
			}
		}
	})
}

// TestTwoAtOnce lets two runs at the same machines, without a lock.
func TestTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.boot("cp-1", "cp-2", "cp-3")
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { _, _ = w.apply(t.Context(), nodeplan.Policy{}) })
		}
		both.Wait()
		w.pass(time.Minute)
		w.settled(nodeplan.Policy{})
	})
}

// TestLockLost: a run that does not hold the lock any more changes nothing.
func TestLockLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.boot("cp-1", "w-1")
		c := w.cluster()
		p, err := w.plan(t.Context(), c, nodeplan.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		lost := errors.New("the lock is lost")
		c.Keep = func(context.Context) error { return lost }
		for _, s := range p.Steps {
			if err := c.Executor(p)(t.Context(), s); !errors.Is(err, lost) {
				t.Errorf("%s: %v", s.Key, err)
			}
		}
		for _, name := range []string{"cp-1", "w-1"} {
			if w.fleet.Machine(name).Config() != "" {
				t.Errorf("%s was configured", name)
			}
		}
	})
}

// TestWrongKeys: keys of another cluster, and ones that have expired, are said.
func TestWrongKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "w-1")
		right := w.keys
		w.keys, w.renew = simtest.NewCluster(t, "demo"), time.Time{}
		p, err := w.plan(t.Context(), w.cluster(), nodeplan.Policy{})
		if err != nil || len(p.Refusals) != 2 || !strings.Contains(p.String(), "it does not prove that it is the node: it was configured, and read its stage: the node shows a certificate of another authority") {
			t.Errorf("keys of another cluster: %v\n%s", err, p)
		}
		w.keys, w.renew = right, time.Time{}
		if _, err := w.credentials(); err != nil {
			t.Fatal(err)
		}
		w.renew = w.fleet.Clock().Now().Add(1000 * time.Hour)
		w.pass(5 * time.Hour)
		p, err = w.plan(t.Context(), w.cluster(), nodeplan.Policy{})
		if err != nil || len(p.Unreachable) != 2 || !strings.Contains(p.String(), "the client certificate has expired") {
			t.Errorf("a certificate that has expired: %v\n%s", err, p)
		}
	})
}
