package apply

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultmachine"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// nodeFaults is a cluster with nodes, which let whoever runs talosgen in for the time
// of a run, behind a fault machine.
type nodeFaults struct {
	*site
	machine *faultmachine.Machine
}

// newNodeFaults is one that is about to be made, or one whose only control plane is
// to get another type and is switched off for it.
func newNodeFaults(t testing.TB, rescale bool) *nodeFaults {
	t.Helper()
	s := newSite(t)
	w := &nodeFaults{s, faultmachine.New(s.sim)}
	s.http = faultproxy.Direct(w.machine)
	s.tree("cp-1", "worker-1")
	if rescale {
		s.mustApply(Policy{})
		s.kind = "cpx32"
		s.tree("cp-1", "worker-1")
	}
	s.sim.ResetCalls()
	return w
}

// attempt is a whole command.
func (w *nodeFaults) attempt() error {
	w.Helper()
	policy := Policy{Consent: plan.Consent{AllowPowerOff: true}}
	s := w.session()
	p, err := s.Plan(w.Context(), policy)
	if err == nil {
		_, err = s.Apply(w.Context(), p, policy, w.owner())
	}
	return errors.Join(err, s.Close(context.WithoutCancel(w.Context())))
}

// boots is longer than a machine takes from the moment that its server runs.
const boots = 3 * time.Minute

// later lets time pass. What Hetzner switches on at its end boots after it.
func (w *nodeFaults) later(d time.Duration) {
	for _, d := range []time.Duration{d, boots} {
		if err := w.fleet.Clock().Sleep(w.Context(), d); err != nil {
			w.Fatal(err)
		}
		w.sim.Settle()
		w.fleet.Settle()
	}
}

// wrong is what is not as it should be; empty if all is well.
func (w *nodeFaults) wrong() string {
	bad := w.fleet.Violations()
	for _, f := range w.list("firewalls") {
		if name := fmt.Sprint(f["name"]); strings.Contains(name, "-session") || strings.Contains(name, "-lock") {
			bad = append(bad, "left behind: firewall "+name)
		}
	}
	for _, s := range w.list("servers") {
		if s["status"] != "running" {
			bad = append(bad, fmt.Sprintf("server %v is %v", s["name"], s["status"]))
		}
	}
	s := w.session()
	switch p, err := s.Plan(w.Context(), Policy{}); {
	case err != nil:
		bad = append(bad, "it cannot be planned: "+err.Error())
	case !p.Empty():
		bad = append(bad, "something is left to do:\n"+p.String())
	}
	if err := s.Close(w.Context()); err != nil {
		bad = append(bad, err.Error())
	}
	return strings.Join(bad, "\n")
}

const (
	// nodeSchedules is one of how many schedules are for nodes too, which take longer.
	nodeSchedules = 4
	// sessionLasts is more than what lets a run in lasts.
	sessionLasts = 125 * time.Minute
)

// TestFaultsOfNodes is TestFaults with nodes behind the servers: the only control
// plane is switched off for another type, whoever runs talosgen is let in for the
// time of a run, and nodes are configured through what Hetzner gives.
func TestFaultsOfNodes(t *testing.T) {
	first, last := uint64(0), uint64(schedules()/nodeSchedules)
	if text := os.Getenv(faultSeedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, last = seed, seed+1
	}
	for _, rescale := range []bool{false, true} {
		var operations map[string]int // of a run without faults
		synctest.Test(t, func(t *testing.T) {
			calm := newNodeFaults(t, rescale)
			if err := calm.attempt(); err != nil {
				t.Fatal(err)
			}
			operations = faultmachine.Operations(calm.sim.Calls())
		})
		for seed := first; seed < last; seed++ {
			if seed%2 == 1 != rescale {
				continue
			}
			schedule := faultmachine.Grammar().Random(rand.New(rand.NewPCG(seed, 1)).IntN, operations)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { newNodeFaults(t, rescale).survive(seed, schedule) })
			})
		}
	}
}

// survive runs by a schedule, and then without faults until all is well, twice at
// most.
func (w *nodeFaults) survive(seed uint64, schedule faultgrammar.Schedule) {
	w.Helper()
	w.machine.Begin(schedule)
	log := []string{"the run: " + said(w.attempt())}
	w.machine.End()
	w.later(time.Minute)
	for n := 0; ; n++ {
		bad := w.wrong()
		if bad == "" && n > 0 {
			return
		}
		if n == 2 {
			w.Errorf("%s=%d: %s\n%s", faultSeedVariable, seed, schedule, strings.Join(append(log, bad), "\n"))
			return
		}
		if n == 1 {
			w.later(sessionLasts)
		}
		log = append(log, "again: "+said(w.attempt()))
		w.later(time.Minute)
	}
}
