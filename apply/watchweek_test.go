package apply

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultmachine"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	kubefaults "github.com/talosgen/talosgen/internal/sim/kubesim/faultmachine"
)

// week is a watch over a week in which things happen by chance.
type week struct {
	*watching
	random    *rand.Rand
	machine   *faultmachine.Machine
	calm      map[string]int // the calls of a turn in which nothing happens
	kube      *kubefaults.Machine
	kubeCalm  map[string]int // the same of the Kubernetes API
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
	default:
		what = w.beyond(n)
	}
	w.happened[what]++
	w.sim.ResetCalls()
}

// beyond lets something happen to Kubernetes, to nodes or to the watch itself.
func (w *week) beyond(n int) (what string) {
	w.Helper()
	switch {
	case n < 46:
		what = "faults at Kubernetes"
		schedule := kubefaults.Grammar().Random(w.random.IntN, w.kubeCalm)
		w.log = append(w.log, "Kubernetes: "+schedule.String())
		w.kube.Begin(schedule)
	case n < 56:
		what = "faults of nodes"
		w.log = append(w.log, "nodes:"+w.nodesFail())
	case n < 59:
		what = "a node is away"
		w.away()
	case n < 62:
		what = "it is killed"
		w.killed(1+w.random.IntN(60), w.random.IntN(2) == 0, w.random.IntN(2) == 0)
		w.watcher = &Watcher{Policy: weekPolicy()}
	}
	return what
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

// nightlyWeeks are how many weeks the nightly level lives through.
const nightlyWeeks = 8

// TestWatchWeek: a week in which workers die, flap and are deleted, things drift, Hetzner,
// Kubernetes and nodes fail, and the watch begins again or is killed, ends as Git says: no control plane was touched, never
// more workers were replaced than the bound says, no server is off, and no lock is left.
func TestWatchWeek(t *testing.T) {
	first, last := uint64(0), uint64(1)
	if os.Getenv("TALOSGEN_TESTENV_NIGHTLY") == "1" {
		last = nightlyWeeks
	}
	if text := os.Getenv(faultSeedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, last = seed, seed+1
	}
	for seed := first; seed < last; seed++ {
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
	w.kube = w.kubernetesFaults()
	w.drift()
	w.must()
	w.calm, w.kubeCalm = faultmachine.Operations(w.sim.Calls()), w.kube.Operations()
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
		w.kube.End()
		w.fleet.ClearFaults()
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
