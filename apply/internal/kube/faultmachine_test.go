package kube

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/kubesim/faultmachine"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// faultSeedVariable names a seed to run again.
const faultSeedVariable = "TALOSGEN_FAULT_SEED"

// How many schedules the levels run.
const (
	fastSchedules, fullSchedules, nightlySchedules = 20, 200, 2000
)

// faultSeeds are those from 0 that the level runs, or the one that is named. A run
// against a real API takes the place of so many.
func faultSeeds(t *testing.T, each int) (seeds []uint64) {
	t.Helper()
	if text := os.Getenv(faultSeedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return []uint64{seed}
	}
	n := fastSchedules
	switch {
	case os.Getenv("TALOSGEN_TESTENV_NIGHTLY") == "1":
		n = nightlySchedules
	case os.Getenv(talosenv.Full) == "1":
		n = fullSchedules
	}
	for seed := range uint64(n / each) {
		seeds = append(seeds, seed)
	}
	return seeds
}

// TestFaultMachine runs the stage of Kubernetes by schedules of one to three faults:
// whatever happens between talosgen and the API, at most two runs without faults
// later everything is as desired, nothing was made twice or lost, the inventory is
// right, no lock is held, and what others have taken is still theirs.
func TestFaultMachine(t *testing.T) {
	for i, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newFaultWorld(t, c)
			operations := w.operations()
			for _, seed := range faultSeeds(t, 1) {
				if seed%uint64(len(faultCases)) == uint64(i) {
					w.again().survives(seed, faultmachine.Grammar().Random(rand.New(rand.NewPCG(seed, 2)).IntN, operations))
				}
			}
		})
	}
}

// TestEachFaultOfKubernetes lets each kind of fault strike the first call of each
// operation that it fits.
func TestEachFaultOfKubernetes(t *testing.T) {
	for i, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newFaultWorld(t, c)
			for n, schedule := range faultmachine.Grammar().EachOnce(w.operations()) {
				if n%sampled() == i%sampled() {
					w.again().survives(0, schedule)
				}
			}
		})
	}
}

// sampled is one of how many faults the level tries of all.
func sampled() int {
	if os.Getenv(talosenv.Full) != "" {
		return 1
	}
	return 30
}

// operations counts those of a run without faults. Nothing is watched: what would be
// missed is asked for again.
func (w *faultWorld) operations() map[string]int {
	w.Helper()
	calm := w.again()
	calm.remember()
	calm.calm()
	if err := calm.run(w.to); err != nil {
		w.Fatal(err)
	}
	counted := calm.machine.Operations()
	if bad := calm.wrong() + calm.locked(); bad != "" {
		w.Fatalf("without faults: %s", bad)
	}
	if paths := calm.machine.Watched(); len(paths) > 0 {
		w.Errorf("watched: %q: the grammar of faults has none of watches", paths)
	}
	return counted
}

// survives runs by a schedule, and then without faults until all is well, twice at
// most.
func (w *faultWorld) survives(seed uint64, schedule faultgrammar.Schedule) {
	w.Helper()
	w.remember()
	w.forgotten = forgotten(schedule)
	w.machine.Begin(schedule)
	first := w.run(w.to)
	w.machine.End()
	log := []string{"the run: " + ended(first)}
	if bad := w.unknown(); len(bad) > 0 && !w.forgotten {
		log = append(log, bad...)
		w.Errorf("%s=%d: %s\n%s", faultSeedVariable, seed, schedule, strings.Join(log, "\n"))
		return
	}
	for n := 0; ; n++ {
		bad := w.wrong()
		if n > 0 && bad == "" {
			bad = w.locked() // a run that the API leaves cannot give it back: it expires
		}
		if bad == "" && (first == nil || n > 0) {
			return
		}
		if n == 2 || n == 0 && first == nil && !unseen(schedule) {
			w.Errorf("%s=%d: %s\n%s", faultSeedVariable, seed, schedule, strings.Join(append(log, bad), "\n"))
			return
		}
		if n == 1 {
			w.unlock()
		}
		log = append(log, "then: "+bad, "again: "+ended(w.run(w.to)))
	}
}

// unknown are objects that talosgen has made, and that its inventory does not have.
func (w *faultWorld) unknown() []string {
	w.Helper()
	ids, err := w.client().inventory().objects(w.Context())
	if err != nil {
		return []string{err.Error()}
	}
	return w.orphans(ids)
}

// forgotten reports whether others delete the inventory.
func forgotten(s faultgrammar.Schedule) bool {
	return slices.ContainsFunc(s, func(f faultgrammar.Fault) bool { return f.Kind == "others delete the inventory" })
}

// unseen reports whether others change something, or an answer is one that was true
// some time ago: a run can have ended well before it could see that.
func unseen(s faultgrammar.Schedule) bool {
	return slices.ContainsFunc(s, func(f faultgrammar.Fault) bool {
		return f.Kind == "stale" || strings.HasPrefix(f.Kind, "others")
	})
}

func ended(err error) string {
	if err == nil {
		return "ended well"
	}
	return fmt.Sprintf("exit %d: %v", diag.CodeOf(err), err)
}
