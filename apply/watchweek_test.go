package apply

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultmachine"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// week is a watch over a week in which things happen by chance.
type week struct {
	*watching
	random    *rand.Rand
	machine   *faultmachine.Machine
	calm      map[string]int // the calls of a turn in which nothing happens
	planes    map[string]string
	replaced  []time.Time // when the watch deleted a server
	happened  map[string]int
	nextDeath time.Time
}

// weekTurn is how often the watch of a week looks.
const weekTurn = 15 * time.Minute

// happen lets something happen before a turn, most of the time nothing.
func (w *week) happen() {
	w.Helper()
	name := fmt.Sprint("worker-", 1+w.random.IntN(4))
	now := w.fleet.Clock().Now()
	what := ""
	switch n := w.random.IntN(100); {
	case n < 12 && now.After(w.nextDeath) && w.named(name) != nil:
		what = []string{"it dies", "it is deleted", "it flaps"}[w.random.IntN(3)]
		w.nextDeath = now.Add(4 * time.Hour)
		switch what {
		case "it is deleted":
			id, _ := w.named(name)["id"].(float64)
			w.ask(http.MethodDelete, "/servers/"+itoa(id), "")
		case "it flaps":
			m := w.fleet.Machine(name)
			m.Cut()
			w.pass(weekTurn)
			_, _ = w.turn()
			m.Heal()
		default:
			w.fleet.Machine(name).Cut()
		}
	case n < 18 && w.named("worker-1") != nil:
		what = "drift"
		w.drift()
	case n < 32:
		what = "faults at Hetzner"
		w.machine.Begin(faultmachine.Grammar().Random(w.random.IntN, w.calm))
	case n < 36:
		what = "another process"
		w.watcher = &Watcher{Policy: weekPolicy()}
	}
	w.happened[what]++
	w.sim.ResetCalls()
}

func weekPolicy() (p watch.Policy) {
	p = watchPolicy()
	p.Interval, p.DeadAfter = weekTurn, 3*weekTurn
	return p
}

// judge looks whether what a turn did was within what a watch may do.
func (w *week) judge() {
	w.Helper()
	now := w.fleet.Clock().Now()
	for range w.deletions() {
		w.replaced = append(w.replaced, now)
	}
	for i, at := range w.replaced {
		if i > 0 && at.Sub(w.replaced[i-1]) < 50*time.Minute {
			w.Fatalf("at %s and %s a worker was replaced\n%s", w.replaced[i-1], at, w.said())
		}
	}
	for _, s := range w.list("servers") {
		name := fmt.Sprint(s["name"])
		if id, plane := w.planes[name]; plane && fmt.Sprint(s["id"]) != id {
			w.Fatalf("%s was %s, and is %v", name, id, s["id"])
		}
	}
	if v := w.fleet.Violations(); len(v) > 0 {
		w.Fatal(v)
	}
}

// TestWatchWeek: a week in which workers die, flap and are deleted, things drift, Hetzner
// fails and the watch begins again, ends as Git says: no control plane was touched, never
// more workers were replaced than the bound says, no server is off, and no lock is left.
func TestWatchWeek(t *testing.T) {
	for seed := range uint64(1) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newWeek(t, seed).live() })
		})
	}
}

func newWeek(t *testing.T, seed uint64) *week {
	t.Helper()
	w := &week{watching: watchedCluster(t, "cp-1", "worker-1", "worker-2", "worker-3", "worker-4"), random: rand.New(rand.NewPCG(seed, 31)), happened: map[string]int{}}
	w.watcher = &Watcher{Policy: weekPolicy()}
	w.sim.ResetCalls()
	w.drift()
	w.must()
	w.calm = faultmachine.Operations(w.sim.Calls())
	w.planes = map[string]string{"cp-1": w.ids()["cp-1"]}
	w.machine = faultmachine.New(w.sim)
	w.http = faultproxy.Direct(w.machine)
	return w
}

// live lives the week.
func (w *week) live() {
	w.Helper()
	for end := w.fleet.Clock().Now().Add(7 * 24 * time.Hour); w.fleet.Clock().Now().Before(end); {
		w.happen()
		_, _ = w.turn() // what fails is tried again
		w.machine.End()
		w.pass(weekTurn)
		w.judge()
	}
	for end := w.fleet.Clock().Now().Add(6 * time.Hour); w.fleet.Clock().Now().Before(end); {
		_, _ = w.turn()
		w.pass(weekTurn)
		w.judge()
	}
	w.running()
	w.closed()
	if p, _, err := w.apply(Policy{}); err != nil || !p.Empty() {
		w.Errorf("in the end %v is left to do:\n%s\n%s", err, p, w.said())
	}
	w.Logf("%v, %d replaced", w.happened, len(w.replaced))
}
