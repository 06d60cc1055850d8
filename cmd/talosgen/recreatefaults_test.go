package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// recreateStride is how far apart calls are that fail in the same run: a call that is
// made again does not fail again. So many runs have every call fail once.
const recreateStride = 29

// recreateLanes are how many clusters share the runs.
const recreateLanes = 4

// TestRecreateFaults makes all nodes anew, to another location and back, where workers
// have volumes at one of them, and another node stands in for them at the other, while
// calls to Hetzner, to nodes and to Kubernetes fail: over all runs every call once, in half of
// them after its effect. It ends as without, with the same command, and etcd never was at
// risk.
func TestRecreateFaults(t *testing.T) {
	if os.Getenv("TALOSGEN_TESTENV_FULL") == "" {
		t.Skip("TALOSGEN_TESTENV_FULL is not set: it takes half a minute of two cores")
	}
	t.Parallel()
	moved, surged := recreateTrees[1], recreateTrees[0]
	surged.workers = surging
	trees := repositoriesOf(t, []lifeTree{surged, moved})
	for lane := range recreateLanes {
		t.Run(strconv.Itoa(lane), func(t *testing.T) {
			t.Parallel()
			var runs []int
			for n := lane; n < recreateStride; n += recreateLanes {
				runs = append(runs, n)
			}
			recreateFailing(t, trees, runs)
		})
	}
}

// recreateFailing is some of the runs, each by the first call that fails in it, with a
// cluster of their own.
func recreateFailing(t *testing.T, trees []files, runs []int) {
	l := newLife(t, trees)
	l.begin(chapter{tree: 0})
	l.complete(lifeApply)
	l.begin(chapter{tree: 1})
	calls, states := l.complete(recreateAll), [2]string{1: l.state()}
	l.begin(chapter{tree: 0})
	l.complete(recreateAll)
	states[0] = l.state() // with the volumes that workers had there
	struck := 0
	for i, first := range runs {
		tree := i % 2
		l.begin(chapter{tree: tree})
		struck += l.failing(recreateAll, first, calls)
		if state := l.state(); state != states[tree] {
			t.Fatalf("run %d: it is not as without:\n%s", first, joinedDiff(states[tree], state))
		}
	}
	t.Logf("%d calls failed in %d runs, of %d to Hetzner and %d to nodes in each", struck, len(runs), calls.hetzner, calls.nodes)
	if least := len(runs) * (calls.hetzner + calls.nodes) / recreateStride / 2; struck < least {
		t.Errorf("%d calls failed, want %d at least", struck, least)
	}
}

// failing runs a command, with a part of the calls failing, until it is done. It returns
// how many failed.
func (l *life) failing(command []string, first int, calls lifeCalls) int {
	l.t.Helper()
	l.sim.ResetCalls()
	l.fleet.ResetCalls()
	var struck atomic.Int64
	strikes := func() { struck.Add(1) }
	for n, call := 0, 1+first; call <= max(calls.hetzner, calls.nodes); n, call = n+1, call+recreateStride {
		when := hetznersim.BeforeEffect
		if n%2 == 1 {
			when = hetznersim.AfterEffect
		}
		l.sim.Inject(hetznersim.Fault{Call: call, When: when, As: hetznersim.Drop(), Then: strikes})
		l.fleet.Inject(talossim.Fault{Call: call, After: n%2 == 1, As: talossim.Drop(), Then: strikes})
	}
	const tries = 12
	for range tries {
		p := l.process(command)
		done := p.run()
		if broken := l.fleet.Violations(); len(broken) > 0 {
			l.t.Fatal(broken)
		}
		if done {
			l.sim.ClearFaults()
			l.fleet.ClearFaults()
			l.later(lifeSession)
			l.complete(command)
			return int(struck.Load())
		}
		l.later(lifeLock)
		if last := strings.TrimSpace(p.output.String()); !p.killed && len(last) > 0 {
			l.t.Logf("again after: %s", last[max(0, len(last)-300):])
		}
	}
	l.t.Fatalf("not done after %d runs", tries)
	return 0
}
