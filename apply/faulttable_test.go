package apply

import (
	"flag"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultmachine"
)

var updateFaults = flag.Bool("update-faults", false, "write the tables of faults in the documentation")

// faultPage is the page of the documentation with the tables.
const faultPage = "../docs/reference/faults.md"

// faultSamples is one of how many cases the level tries.
func faultSamples() uint32 {
	switch {
	case *updateFaults, schedules() == nightlySchedules:
		return 1
	case schedules() == fullSchedules:
		return 2
	}
	return 100
}

// TestEachFault: each kind of fault strikes each call that it can strike, the first
// one of its operation in a run and the last one, for each run in the life of three
// clusters. All is well at most two runs later, whoever runs talosgen is told what to
// do if a run ends, and the documentation says what is seen. Changes are made one at
// a time, so that a call has a number.
func TestEachFault(t *testing.T) {
	seen := faultTable{}
	t.Run("cases", func(t *testing.T) {
		var mu sync.Mutex
		for _, c := range faultCases(t) {
			c.inTurn = true
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				w := newFaultWorld(t, c)
				for _, schedule := range faultmachine.Grammar().FirstAndLast(w.operations) {
					if !sampled(c.name + ": " + schedule.String()) {
						continue
					}
					outcome := w.try(schedule)
					mu.Lock()
					seen.note(schedule[0], outcome)
					mu.Unlock()
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	page, err := os.ReadFile(faultPage)
	if err != nil {
		t.Fatal(err)
	}
	if *updateFaults {
		if err := os.WriteFile(faultPage, []byte(seen.page(string(page))), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	const hint = "write it anew with `go test ./apply -run TestEachFault -update-faults`"
	for _, problem := range seen.missing(string(page)) {
		t.Errorf("%s is not in %s; %s", problem, faultPage, hint)
	}
	if faultSamples() == 1 && !t.Failed() && seen.page(string(page)) != string(page) {
		t.Errorf("%s has what does not come to pass; %s", faultPage, hint)
	}
}

// sampled reports whether the level tries a case: always the same ones, whatever
// other cases there are.
func sampled(name string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // it never fails
	return h.Sum32()%faultSamples() == 0
}

// try runs by a schedule of one fault, and returns what is seen.
func (w *faultWorld) try(schedule faultgrammar.Schedule) faultOutcome {
	problem, first := w.survives(schedule)
	if problem != "" {
		w.Errorf("%s: %s\n%s", w.name, schedule, problem)
	}
	if w.struck == 0 {
		w.Errorf("%s: %s: it did not strike", w.name, schedule)
	}
	outcome := w.outcome(schedule[0], first)
	if first != nil && outcome.advice == "" {
		w.Errorf("%s: %s: nothing is advised:\n%v", w.name, schedule, first)
	}
	if first != nil && strings.Contains(first.Error(), canaryToken) {
		w.Errorf("%s: %s: a secret is shown:\n%v", w.name, schedule, first)
	}
	return outcome
}

// faultCell is a fault on a call.
type faultCell struct{ call, kind string }

// faultTable is what is seen of faults.
type faultTable map[faultCell][]faultOutcome

func (ft faultTable) note(f faultgrammar.Fault, outcome faultOutcome) {
	cell := faultCell{f.Operation, f.Kind}
	if !slices.Contains(ft[cell], outcome) {
		ft[cell] = append(ft[cell], outcome)
	}
}
