package upgrade_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/versions"
)

// rollback is what Talos does when it is told to go back, and what becomes of its answer.
func (w *world) rollback(m *machine, s upgrade.Step) bool {
	m.Mark = &upgrade.Mark{Phase: upgrade.Returning, Version: s.Version, Schematic: s.Schematic, Boot: fmt.Sprint(m.boots), Run: fmt.Sprint("run ", w.run), Try: s.Try}
	if w.befalls(12) {
		return false // killed before the call
	}
	if m.backs++; m.backs > 1 {
		w.violate("%s: %d rollbacks in one boot", m.Name, m.backs)
	}
	m.next = 1 - m.running
	w.boot(m)
	supported, _ := upgradepath.Supports(m.Talos, m.Kubelet)
	if etcd := versions.Minor(upgradepath.Etcd(m.Talos)); m.Role == upgrade.ControlPlane && etcd < w.storage || !supported || m.Contract == "v1.14" && versions.Minor(m.Talos) < 14 {
		w.violate("%s goes back to Talos %s with etcd of 3.%d, Kubernetes %s, the contract %s", m.Name, m.Talos, w.storage, m.Kubelet, m.Contract)
	}
	return !w.befalls(8)
}

// write lets etcd write what its oldest member reads, when all are there.
func (w *world) write() {
	lowest := 100
	for _, m := range w.machines {
		switch {
		case m.Role != upgrade.ControlPlane:
		case !m.up():
			return
		default:
			lowest = min(lowest, versions.Minor(upgradepath.Etcd(m.Talos)))
		}
	}
	w.storage = max(w.storage, lowest)
}

// upgradedWorld is a cluster whose nodes of some names, or all, have been upgraded, and
// that goes back.
func upgradedWorld(t *testing.T, s start, names ...string) *world {
	t.Helper()
	w := build(s, nil)
	w.policy.Nodes, w.policy.Component = names, upgrade.OnlyTalos
	if names == nil || len(names) > 0 {
		w.finish(t)
	}
	w.policy.Nodes, w.policy.Component, w.policy.Rollback = nil, upgrade.Everything, true
	w.log, w.saved = nil, nil
	return w
}

// wanting lets Git have a Talos.
func (w *world) wanting(talos, schematic string) {
	for i := range w.want.Nodes {
		w.want.Nodes[i].Talos, w.want.Nodes[i].Schematic = talos, schematic
	}
}

func (w *world) runs(t *testing.T, want map[string]string) {
	t.Helper()
	for _, m := range w.machines {
		if m.Talos != want[m.Name] || m.Drained || m.Mark != nil {
			w.fail(t, "%s runs %s, drained %v, mark %v", m.Name, m.Talos, m.Drained, m.Mark)
		}
	}
	if len(w.violations) > 0 {
		w.fail(t, "invariants")
	}
}

var minorUp = start{3, 2, 0, upgradepath.State{Talos: "v1.13.9", Kubernetes: "1.36.3"}, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.36.3"}}

// TestRollback goes back with workers first and who leads etcd last, and the plan says so.
// After it neither of both does anything, until somebody wants the newer Talos once more
// or Git has the older one again.
func TestRollback(t *testing.T) {
	s := patch
	s.workers = 1
	w := upgradedWorld(t, s)
	for _, m := range w.machines {
		m.Contract = "v1.14"
	}
	plan := upgrade.Make(w.want, w.observe(), w.policy)
	want := `back to talos v1.14.0
  snapshot                   etcd
  drain, roll back           worker-1, plane-1, plane-3, plane-2
stays:
  plane-1: it keeps Talos v1.14.0, and Git has v1.14.1; set talos.version back in Git; or upgrade it once more: --retry plane-1`
	if got := strings.Join(plan.Lines()[:5], "\n"); got != want || len(plan.Lines()) != 8 || !plan.Executable() {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(plan.Lines(), "\n"), want)
	}
	old := map[string]string{"plane-1": "v1.14.0", "plane-2": "v1.14.0", "plane-3": "v1.14.0", "worker-1": "v1.14.0"}
	w.finish(t)
	w.runs(t, old)
	if again := upgrade.Make(w.want, w.observe(), w.policy); !again.Empty() || len(again.Refusals) > 0 || again.String() != "c, rollback: nothing to do\n" && !strings.Contains(again.String(), "stays:") {
		t.Errorf("I10: %s", again)
	}
	w.policy.Rollback = false
	if up := upgrade.Make(w.want, w.observe(), w.policy); !up.Empty() || len(up.Refusals) != 3 || !up.Refusals[0].Retry || !strings.Contains(up.Refusals[0].Text, "rolled back from Talos v1.14.1 to v1.14.0") {
		t.Errorf("an upgrade: %s", up)
	}
	w.wanting("v1.14.0", before)
	if none := upgrade.Make(w.want, w.observe(), w.policy); !none.Empty() || len(none.Refusals)+len(none.Left) > 0 {
		t.Errorf("Git has the older one: %s", none)
	}
	w.wanting("v1.14.1", now)
	w.policy.Retry = []string{"plane-1", "plane-2", "plane-3", "worker-1"}
	w.finish(t)
	w.arrived(t)
}

// TestRollbackOf says which nodes go back, by their names or by what Git has.
func TestRollbackOf(t *testing.T) {
	for _, c := range []struct {
		name     string
		upgraded []string
		set      func(w *world)
		back     string
	}{
		{"what Git has", []string{"plane-1", "plane-2"}, func(*world) {}, "plane-1 plane-2"},
		{"one of them", []string{"plane-1", "plane-2"}, func(w *world) { w.policy.Nodes = []string{"plane-1"} }, "plane-1"},
		{"Git has the older one", []string{"plane-1", "plane-2"}, func(w *world) { w.wanting("v1.13.9", before) }, "plane-1 plane-2"},
		{"one is back", []string{"plane-1", "plane-2"}, func(w *world) {
			w.policy.Nodes = []string{"plane-2"}
			w.drive(-1, false)
			w.policy.Nodes = nil
			w.wanting("v1.13.9", before)
		}, "plane-1"},
		{"an older way", []string{"plane-1"}, func(w *world) {
			w.machine("plane-3").Before = &upgrade.Before{From: upgrade.System{Version: "1.13.8", Schematic: before}, To: upgrade.System{Version: "1.13.9", Schematic: before}}
		}, "plane-1"},
		{"an older way, Git back", []string{"plane-1"}, func(w *world) {
			w.machine("plane-3").Before = &upgrade.Before{From: upgrade.System{Version: "1.13.8", Schematic: before}, To: upgrade.System{Version: "1.13.9", Schematic: before}}
			w.wanting("v1.13.9", before)
		}, "plane-1"},
		{"nothing was upgraded", []string{}, func(*world) {}, ""},
	} {
		w := upgradedWorld(t, minorUp, c.upgraded...)
		c.set(w)
		plan := upgrade.Make(w.want, w.observe(), w.policy)
		var nodes []string
		for _, s := range plan.Steps {
			if s.Action == upgrade.Rollback {
				nodes = append(nodes, s.Node)
			}
		}
		if slices.Sort(nodes); strings.Join(nodes, " ") != c.back || len(plan.Refusals) > 0 {
			t.Errorf("%s: %q go back, not %q; refused: %v", c.name, nodes, c.back, plan.Refusals)
		}
	}
}

// TestRollbackRefusals: what cannot go back is refused with the reason, and nothing is
// done.
func TestRollbackRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		start  start
		up     []string
		nodes  []string
		set    func(w *world, o *upgrade.Observed)
		id     string
		reason string
	}{
		{"etcd has crossed a minor", minorUp, nil, []string{"plane-1"}, nil, "R2", "etcd writes what is of 3.7.0"},
		{"etcd is about to", minorUp, nil, []string{"plane-1"}, func(_ *world, o *upgrade.Observed) { storage(o, "") }, "R2", "every member of etcd has 3.7.1, and Talos v1.13.9 has 3.6.12"},
		{"an etcd too old for its peers", start{3, 0, 0, upgradepath.State{Talos: "v1.13.1", Kubernetes: "1.36.3"}, minorUp.goal}, []string{"plane-1", "plane-2"}, []string{"plane-1"}, func(w *world, o *upgrade.Observed) {
			w.machine("plane-1").Before.From.Version = "1.13.0"
			o.Nodes[0].Before.From.Version = "1.13.0"
		}, "R2", "its etcd would be 3.6.9, and must be 3.6.11 beside the 3.7.1 of plane-2"},
		{"Kubernetes is too new", minorUp, []string{"plane-1"}, nil, func(_ *world, o *upgrade.Observed) { o.Nodes[0].Kubelet = "v1.37.0" }, "R1", "Kubernetes 1.37.0, which Talos v1.13.9 does not support"},
		{"a program is too new", minorUp, []string{"plane-1"}, nil, func(_ *world, o *upgrade.Observed) {
			o.Nodes[0].Programs[upgrade.APIServer] = upgrade.Program{Configured: "1.37.0", Running: "1.37.0", Ready: true}
		}, "R1", "Kubernetes 1.37.0"},
		{"the contract is too new", minorUp, []string{"plane-1"}, nil, func(_ *world, o *upgrade.Observed) { o.Nodes[0].Contract = "v1.14" }, "R8", "the contract v1.14, which Talos v1.13.9 does not read"},
		{"nobody knows", minorUp, []string{"plane-1"}, []string{"plane-2"}, nil, "", "what it ran before Talos v1.13.9 is not known"},
		{"another one installed it", minorUp, []string{"plane-1"}, nil, func(_ *world, o *upgrade.Observed) { o.Nodes[0].Before.To.Schematic = before }, "", "what it ran before Talos v1.14.1 is not known"},
		{"it is not reached", minorUp, []string{"plane-1"}, nil, func(_ *world, o *upgrade.Observed) { o.Nodes[0].Reached = false }, "", "it is not reached"},
		{"no such node", minorUp, []string{"plane-1"}, []string{"plane-9"}, nil, "", "no node of this name"},
		{"the autoscaler made it", start{3, 0, 1, minorUp.now, minorUp.goal}, []string{"plane-1"}, []string{"burst-1"}, nil, "", "the autoscaler made it"},
		{"another member is not healthy", minorUp, []string{"plane-1"}, nil, func(_ *world, o *upgrade.Observed) { o.Members[1].Healthy = false }, "", "R3"},
		{"another control plane is away", minorUp, []string{"plane-1"}, nil, func(_ *world, o *upgrade.Observed) { o.Nodes[1].Reached = false }, "", "R11"},
	} {
		w := upgradedWorld(t, c.start, c.up...)
		w.policy.Nodes = c.nodes
		seen := w.observe()
		if c.set != nil {
			c.set(w, &seen)
		}
		plan := upgrade.Make(w.want, seen, w.policy)
		if !plan.Empty() || len(plan.Refusals) == 0 || plan.Refusals[0].ID != c.id || !strings.Contains(plan.Refusals[0].Text, c.reason) {
			t.Errorf("%s: %s", c.name, plan)
		}
	}
}

// TestRollbackUnseen: of a node that has not answered once the schematic is not known. It
// is still to go back, after those that answer, and without it nothing is done.
func TestRollbackUnseen(t *testing.T) {
	for _, git := range []string{"Git has the newer Talos", "Git has the older Talos"} {
		s := patch
		s.workers = 2
		w := upgradedWorld(t, s)
		w.policy.Nodes = []string{"plane-1", "plane-2", "worker-1"}
		w.finish(t)
		w.policy.Nodes = nil
		if git == "Git has the older Talos" {
			w.wanting("v1.14.0", before)
		}
		seen := w.observe()
		for i := range seen.Nodes {
			if n := &seen.Nodes[i]; n.Name == "worker-2" {
				n.Reached, n.Schematic = false, ""
			}
		}
		d := upgrade.Next(w.want, seen, w.policy)
		if len(d.Steps) != 1 || d.Steps[0].Node == "worker-2" {
			t.Errorf("%s: %+v, and another node answers", git, d)
		}
		for i := range seen.Nodes {
			if n := &seen.Nodes[i]; n.Name == "plane-3" {
				n.Talos, n.Schematic = "v1.14.0", before
			}
		}
		d = upgrade.Next(w.want, seen, w.policy)
		if d.Done || len(d.Steps) > 0 || len(d.Wait) != 1 || d.Wait[0].Node != "worker-2" {
			t.Errorf("%s: %+v, and worker-2 is to go back", git, d)
		}
	}
}

func storage(o *upgrade.Observed, version string) {
	for i := range o.Members {
		o.Members[i].Storage = version
	}
}

// TestRollbackOfTheBad: a node that is not healthy is what this is for. The last control
// plane with a new minor goes back while its etcd does not serve, and a node that went
// back by itself stays as it is.
func TestRollbackOfTheBad(t *testing.T) {
	w := upgradedWorld(t, minorUp, "plane-1", "plane-2", "plane-3")
	w.storage = 6
	w.policy.Nodes, w.policy.Allow = []string{"plane-1"}, nil
	seen := w.observe()
	seen.Nodes[0].Stage, seen.Nodes[0].Ready, seen.Members[0].Healthy = "booting", false, false
	seen.Nodes[0].Mark = &upgrade.Mark{Phase: upgrade.Installed, Version: "1.14.1", Schematic: now, Boot: "0"}
	seen.Saved = []string{"this run"}
	if d := upgrade.Next(w.want, seen, w.policy); short(d) != "rollback plane-1" || d.Steps[0].Evict {
		t.Errorf("%s", short(d))
	}
	seen.Nodes[0].Talos, seen.Nodes[0].Schematic, seen.Nodes[0].Stage = "v1.13.9", before, "running"
	if d := upgrade.Next(w.want, seen, w.policy); short(d) != "confirm plane-1" || !d.Steps[0].Before.Back {
		t.Errorf("by itself: %s", short(d))
	}
}

// TestReturning goes through the states of a node that was told to go back.
func TestReturning(t *testing.T) {
	mark := func(n *upgrade.Node, boot string, try int) {
		n.Drained, n.Mark = true, &upgrade.Mark{Phase: upgrade.Returning, Version: "1.13.9", Schematic: before, Boot: boot, Try: try, Run: "another"}
	}
	old := func(n *upgrade.Node) { n.Talos, n.Schematic = "v1.13.9", before }
	for _, c := range []struct {
		state string
		set   func(n *upgrade.Node, m *upgrade.Member)
		want  string
	}{
		{"to begin with", func(*upgrade.Node, *upgrade.Member) {}, "drain plane-1"},
		{"drained", func(n *upgrade.Node, _ *upgrade.Member) { n.Drained = true }, "rollback plane-1"},
		{"somebody has cordoned it", func(n *upgrade.Node, _ *upgrade.Member) { n.Cordoned = true }, "rollback plane-1"},
		{"it leads etcd", func(n *upgrade.Node, m *upgrade.Member) { n.Drained, m.Leader = true, true }, "transfer plane-1"},
		{"unknown", func(n *upgrade.Node, _ *upgrade.Member) { mark(n, n.Boot, 1) }, "boot plane-1"},
		{"on its way", func(n *upgrade.Node, _ *upgrade.Member) { mark(n, n.Boot, 1); n.Stage = "rebooting" }, "wait plane-1"},
		{"away", func(n *upgrade.Node, _ *upgrade.Member) { mark(n, "0", 1); n.Reached = false }, "wait plane-1"},
		{"back", func(n *upgrade.Node, _ *upgrade.Member) { mark(n, "0", 1); old(n) }, "confirm plane-1"},
		{"back, boots", func(n *upgrade.Node, _ *upgrade.Member) { mark(n, "0", 1); old(n); n.Stage = "booting" }, "wait plane-1"},
		{"back, does not vote", func(n *upgrade.Node, m *upgrade.Member) { mark(n, "0", 1); old(n); m.Learner = true }, "wait plane-1"},
		{"not taken", func(n *upgrade.Node, _ *upgrade.Member) { mark(n, "0", 1) }, "rollback plane-1"},
		{"not taken twice", func(n *upgrade.Node, _ *upgrade.Member) { mark(n, "0", 2) }, "uncordon plane-1, stop plane-1"},
		{"something else", func(n *upgrade.Node, _ *upgrade.Member) { mark(n, "0", 1); n.Talos = "v1.12.7" }, "uncordon plane-1, stop plane-1"},
	} {
		for _, rollback := range []bool{true, false} { // what was begun is finished by an upgrade too
			w := upgradedWorld(t, minorUp, "plane-1")
			w.policy.Rollback = rollback
			seen := w.observe()
			seen.Saved = []string{"this run"}
			for i := range seen.Members {
				seen.Members[i].Leader = i == 2
			}
			if c.set(&seen.Nodes[0], &seen.Members[0]); !rollback && seen.Nodes[0].Mark == nil {
				continue
			}
			if seen.Members[0].Leader {
				seen.Members[2].Leader = false
			}
			if got := short(upgrade.Next(w.want, seen, w.policy)); got != c.want {
				t.Errorf("%s, rollback %v: %s, want %s", c.state, rollback, got, c.want)
			}
		}
	}
}

// TestRollbackWhateverHappens lets nodes of clusters that were upgraded to anywhere go
// back while runs end, calls get lost, boots fail and nodes die: no invariant breaks, and
// what is not refused is done in the end.
func TestRollbackWhateverHappens(t *testing.T) {
	done, refused := 0, 0
	for seed := range uint64(200) {
		chance := rand.New(rand.NewPCG(seed, 21))
		w := build(random(chance), chance)
		w.halfway()
		w.write()
		w.faults, w.policy.Rollback = true, true
		for _, m := range w.machines {
			if chance.IntN(4) == 0 {
				w.policy.Nodes = append(w.policy.Nodes, m.Name)
			}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			for run, ended := 0, false; !ended; run++ {
				e := w.drive(-1, false)
				w.schedulable(e)
				if ended = e.done || w.never(e); e.done {
					done++
				} else if ended {
					refused++
				}
				for range 3 {
					w.tick()
				}
				if w.mend(e); run > 60 {
					w.fail(t, "no run was done: %v", e.notes)
				}
			}
			if len(w.violations) > 0 {
				w.fail(t, "invariants")
			}
		})
	}
	if done < 40 || refused < 20 {
		t.Errorf("%d ended well, and %d were refused", done, refused)
	}
}

// never reports whether no further run would do more: a rule stands against it.
func (w *world) never(e ending) bool {
	return slices.ContainsFunc(e.notes, func(n upgrade.Note) bool {
		return slices.Contains([]string{"R1", "R2", "R8"}, n.ID) || strings.Contains(n.Text, "is not known") || strings.Contains(n.Text, "the autoscaler made it") || strings.Contains(n.Text, "no node of this name")
	})
}
