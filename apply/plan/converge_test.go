package plan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/plantest"
	"github.com/talosgen/talosgen/schemas"
)

// everything agrees to everything.
var everything = plan.Policy{AllowDestroy: true, AllowPowerOff: true}

// seeds is how many random clusters each property is tried with.
const seeds = 200

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func mustMake(t *testing.T, desired schemas.Infrastructure, m *plantest.Model, policy plan.Policy) *plan.Plan {
	t.Helper()
	p, err := plan.Make(desired, m.Observed, policy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// converge applies plans until there is nothing to do. Each run but the last
// stops after a number of calls.
func converge(t *testing.T, desired schemas.Infrastructure, m *plantest.Model, stops ...int) {
	t.Helper()
	for _, limit := range append(stops, -1) {
		p := mustMake(t, desired, m, everything)
		if !p.Executable() {
			t.Fatalf("not executable:\n%s", p)
		}
		if _, err := m.Apply(p, limit); err != nil {
			t.Fatalf("%v, of\n%s", err, p)
		}
	}
	if p := mustMake(t, desired, m, plan.Policy{}); len(p.Changes)+len(p.Refusals) > 0 {
		t.Fatalf("something is left to do:\n%s", p)
	}
}

// What was made is what is desired: the second plan is empty, without consent.
func TestNothingIsLeftToDo(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := random(seed)
			m := plantest.NewModel(plantest.Empty())
			converge(t, plantest.Random(r, "prod").Infrastructure(), m)
		})
	}
}

// A run may stop anywhere, and what is desired may change meanwhile.
func TestInterruptedRunsConverge(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := random(seed)
			m := plantest.NewModel(plantest.Empty())
			spec := plantest.Random(r, "prod")
			for range 4 {
				converge(t, spec.Infrastructure(), m, r.IntN(40), r.IntN(40), r.IntN(10))
				spec = spec.Change(r)
			}
		})
	}
}
