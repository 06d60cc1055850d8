package apply

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultmachine"
)

const (
	// faultSeedVariable names a seed to run again.
	faultSeedVariable = "TALOSGEN_FAULT_SEED"
	// How many schedules the levels run.
	fastSchedules, fullSchedules, nightlySchedules = 36, 200, 5000
	// lockLasts is more than a lock lasts that a run could not give back.
	lockLasts = 11 * time.Minute
)

// TestFaults runs talosgen by schedules of one to three faults: whatever happens
// between it and Hetzner, at most two runs without faults later everything is as
// desired, no server is off, nobody is let in any more, no lock is held, and the
// neighbours are as they were.
func TestFaults(t *testing.T) {
	first, last := uint64(0), uint64(schedules())
	if text := os.Getenv(faultSeedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, last = seed, seed+1
	}
	cases := faultCases(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var w *faultWorld
			for seed := first; seed < last; seed++ {
				if seed%uint64(len(cases)) != uint64(i) {
					continue
				}
				if w == nil {
					w = newFaultWorld(t, c)
				}
				schedule := faultmachine.Grammar().Random(rand.New(rand.NewPCG(seed, 1)).IntN, w.operations)
				problem, first := w.survives(schedule)
				t.Logf("%d: %s\n%s", seed, schedule, said(first))
				if problem != "" {
					t.Errorf("%s=%d: %s\n%s", faultSeedVariable, seed, schedule, problem)
				}
			}
		})
	}
}

// schedules is how many the level runs.
func schedules() int {
	switch {
	case os.Getenv("TALOSGEN_TESTENV_NIGHTLY") == "1":
		return nightlySchedules
	case os.Getenv("TALOSGEN_TESTENV_FULL") == "1":
		return fullSchedules
	}
	return fastSchedules
}

// survives runs by a schedule, and then without faults until all is well, twice at
// most. It returns what is not well in the end, and what the first run said.
func (w *faultWorld) survives(schedule faultgrammar.Schedule) (problem string, first error) {
	w.Helper()
	w.sim.Restore(w.before)
	w.machine.Begin(schedule)
	first = w.run(w.to == nil)
	w.seen, w.struck = maps.Clone(w.asked), w.machine.End()
	if first == nil {
		// It said that it is done: what is done by label selectors comes later.
		w.clock.Advance(time.Minute)
		w.sim.Settle()
	}
	log := []string{"the run: " + said(first)}
	if untidy := w.untidy(false); untidy != "" && orderly(schedule) {
		return log[0] + "\nit ended with\n" + untidy, first
	}
	for n := 0; ; n++ {
		bad := w.wrong()
		if bad == "" && (first == nil || n > 0) {
			return "", first
		}
		if n == 2 || n == 0 && first == nil && !outdated(schedule) {
			return strings.Join(append(log, bad), "\n"), first
		}
		if n == 1 {
			w.clock.Advance(lockLasts)
		}
		log = append(log, "again: "+said(w.run(w.to == nil)))
	}
}

// orderly reports whether a run by a schedule can leave everything tidy, however it
// ends: each fault strikes one call, and none the deletion of a lock.
func orderly(s faultgrammar.Schedule) bool {
	return !slices.ContainsFunc(s, func(f faultgrammar.Fault) bool {
		return !f.Single || f.Operation == "DELETE /firewalls/*" || strings.HasPrefix(f.Kind, "others") || strings.HasPrefix(f.Kind, "action") ||
			strings.HasPrefix(f.Kind, "clock") || f.Kind == "401 unauthorized"
	})
}

// outdated reports whether somebody else changes the cluster, or an answer is one
// that was true some time ago: a run can have ended well before it could see that.
func outdated(s faultgrammar.Schedule) bool {
	for _, f := range s {
		switch f.Kind {
		case "stale", "selector lags", "others switch off", "others change rules", "others delete":
			return true
		}
	}
	return false
}

func said(err error) string {
	if err == nil {
		return "ended well"
	}
	return "exit " + strconv.Itoa(int(diag.CodeOf(err))) + ": " + err.Error()
}

// untidy is what no run may leave behind: a lock, a way in, a server that is off. One
// that a run did not come to finish was never on.
func (w *faultWorld) untidy(finished bool) string {
	var bad []string
	for _, f := range w.list("firewalls") {
		name, _ := f["name"].(string)
		if strings.Contains(name, "-session") || strings.Contains(name, "-lock") {
			bad = append(bad, "left behind: firewall "+name)
		}
	}
	for _, s := range w.list("servers") {
		name, _ := s["name"].(string)
		status, _ := s["status"].(string)
		if status != "running" && (finished || slices.Contains(w.ran, name) && status != "deleting") {
			bad = append(bad, "server "+name+" is "+status)
		}
	}
	return strings.Join(bad, "\n")
}

// wrong is what is not as it should be after a run; empty if all is well.
func (w *faultWorld) wrong() string {
	var bad []string
	if untidy := w.untidy(true); untidy != "" {
		bad = append(bad, untidy)
	}
	if others := w.others(); others != w.neighbours {
		bad = append(bad, "the neighbours are\n"+others+"and were\n"+w.neighbours)
	}
	p, err := w.plan(w.session(), w.to == nil)
	switch {
	case err != nil:
		bad = append(bad, "it cannot be planned: "+err.Error())
	case !p.Empty() || len(p.Changes)+len(p.Refusals) > 0:
		bad = append(bad, "something is left to do:\n"+p.Plan.String())
	}
	return strings.Join(bad, "\n")
}
