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

// start is where a cluster begins, and what Git has.
type start struct {
	planes, workers, autoscaled int
	now, goal                   upgradepath.State
}

const (
	before = "1111"
	now    = "2222"
)

// build makes the model of a cluster.
func build(s start, chance *rand.Rand) *world {
	w := &world{start: s, chance: chance, want: upgrade.Desired{Cluster: "c", Pools: map[string]upgrade.Want{}}, manifests: s.now.Kubernetes}
	w.policy = upgrade.Policy{MaxParallel: 2, Allow: []string{upgrade.RiskHops, upgrade.RiskNoReturn, upgrade.RiskSingle, upgrade.RiskTwo}}
	add := func(role, pool string, count int, autoscaled bool) {
		for i := range count {
			w.add(s, role, pool, fmt.Sprintf("%s-%d", pool, i+1), autoscaled)
		}
	}
	add(upgrade.ControlPlane, "plane", s.planes, false)
	add(upgrade.Worker, "worker", s.workers, false)
	add(upgrade.Worker, "burst", s.autoscaled, true)
	w.leader = "plane-1"
	return w
}

func (w *world) add(s start, role, pool, name string, autoscaled bool) {
	want := upgrade.Want{Name: name, Role: role, Pool: pool, Talos: s.goal.Talos, Kubernetes: s.goal.Kubernetes,
		Installer: "factory/hcloud-installer/" + now, Schematic: now, Extensions: []string{"iscsi"}, Platform: "hcloud", Contract: "v1.14", Images: map[string]string{}}
	for _, program := range []string{upgrade.APIServer, upgrade.ControllerManager, upgrade.Scheduler, upgrade.Proxy, upgrade.Kubelet} {
		want.Images[program] = "registry.example.com/" + program + ":v" + strings.TrimPrefix(s.goal.Kubernetes, "v")
	}
	if autoscaled {
		w.want.Pools[pool] = want
	} else {
		w.want.Nodes = append(w.want.Nodes, want)
	}
	old := system{s.now.Talos, before, []string{"iscsi"}}
	m := &machine{slots: [2]system{old, {}}, Node: upgrade.Node{Name: name, Role: role, Pool: pool, Autoscaled: autoscaled, Talos: old.talos,
		Schematic: old.schematic, Extensions: old.extensions, Kubelet: s.now.Kubernetes, Platform: "hcloud", Contract: "v1.12"}}
	if role == upgrade.ControlPlane {
		run := upgrade.Program{Configured: s.now.Kubernetes, Running: s.now.Kubernetes, Ready: true}
		m.Programs = map[string]upgrade.Program{upgrade.APIServer: run, upgrade.ControllerManager: run, upgrade.Scheduler: run, upgrade.Proxy: {Configured: s.now.Kubernetes}}
	}
	w.machines = append(w.machines, m)
}

// result is what a world has become.
func (w *world) result() string {
	var b strings.Builder
	for _, m := range w.machines {
		if !m.dead {
			fmt.Fprintln(&b, m.Name, m.Talos, m.Schematic, m.Kubelet, m.Contract, m.Drained, m.Mark != nil, m.Programs)
		}
	}
	fmt.Fprintln(&b, w.manifests)
	return b.String()
}

// finish runs until a run is done, and returns how many it took.
func (w *world) finish(t *testing.T) int {
	t.Helper()
	for runs := 1; runs <= 60; runs++ {
		e := w.drive(-1, false)
		if e.done {
			return runs
		}
		w.schedulable(e)
		w.mend(e)
	}
	w.fail(t, "no run was done")
	return 0
}

// schedulable is I11.
func (w *world) schedulable(e ending) {
	for _, m := range w.machines {
		told := slices.ContainsFunc(e.notes, func(n upgrade.Note) bool { return n.Node == m.Name })
		if !e.cut && m.Drained && m.up() && !told {
			w.violate("I11: %s stays cordoned, and nothing is said of it", m.Name)
		}
	}
}

func (w *world) fail(t *testing.T, format string, args ...any) {
	t.Helper()
	tail := w.log[max(0, len(w.log)-40):]
	t.Fatalf("%s\n%s\n%s\nlast steps:\n%s", fmt.Sprintf(format, args...), strings.Join(w.violations, "\n"), w.result(), strings.Join(tail, "\n"))
}

// arrived checks that nothing is left to do.
func (w *world) arrived(t *testing.T) {
	t.Helper()
	if len(w.violations) > 0 {
		w.fail(t, "invariants")
	}
	for _, m := range w.machines {
		want := w.wanted(m)
		if !m.dead && (m.Talos != want.Talos || m.Kubelet != want.Kubernetes || m.Drained || m.Mark != nil) {
			w.fail(t, "%s is not what Git says", m.Name)
		}
	}
	if plan := upgrade.Make(w.want, w.observe(), w.policy); len(plan.Steps) > 0 || len(plan.Refusals) > 0 {
		w.fail(t, "I10: the next run would take steps: %v, %v", plan.Steps, plan.Refusals)
	}
}

var mixed = start{3, 3, 2, upgradepath.State{Talos: "v1.12.4", Kubernetes: "1.35.0"}, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.37.0"}}

// TestKilledAnywhere kills a run before and after many steps: the next one ends as if
// nothing had been.
func TestKilledAnywhere(t *testing.T) {
	for _, how := range []upgrade.Autoscaled{upgrade.InPlace, upgrade.Recycle} {
		t.Run("autoscaled "+string(how), func(t *testing.T) { killedAnywhere(t, how) })
	}
}

func killedAnywhere(t *testing.T, how upgrade.Autoscaled) {
	build := func() *world {
		w := build(mixed, nil)
		w.policy.Autoscaled, w.policy.Allow = how, append(w.policy.Allow, upgrade.RiskRecycle)
		return w
	}
	whole := build()
	whole.finish(t)
	whole.arrived(t)
	expected, steps := whole.result(), len(whole.log)
	if steps < 100 {
		t.Fatalf("only %d steps", steps)
	}
	for kill := 0; kill < steps; kill += 3 {
		for _, after := range []bool{false, true} {
			w := build()
			if e := w.drive(kill, after); e.done && kill < steps-1 {
				w.fail(t, "step %d was not reached", kill)
			}
			w.finish(t)
			w.arrived(t)
			if w.result() != expected {
				w.fail(t, "killed at step %d, it ends otherwise than\n%s", kill, expected)
			}
		}
	}
}

// TestWhateverHappens lets installers fail, boots go back or hang, pulls stall, nodes
// die and runs end: no invariant breaks, and in the end everything is there.
func TestWhateverHappens(t *testing.T) {
	runs := 0
	for seed := range uint64(100) {
		chance := rand.New(rand.NewPCG(seed, 14))
		w := build(random(chance), chance)
		w.faults = true
		w.policy.MaxParallel = 1 + chance.IntN(3)
		if seed%3 == 0 && versions.Minor(w.start.goal.Kubernetes)-versions.Minor(w.start.now.Kubernetes) <= 3 { // its nodes wait for the end
			w.policy.Autoscaled, w.policy.Allow = upgrade.Recycle, append(w.policy.Allow, upgrade.RiskRecycle)
		}
		w.policy.Soak = chance.IntN(11)
		for _, m := range w.machines {
			m.Cordoned = chance.IntN(8) == 0 // by somebody, for a reason
		}
		w.halfway()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			runs += w.finish(t)
			w.arrived(t)
		})
	}
	if runs < 250 {
		t.Errorf("only %d runs: hardly anything failed", runs)
	}
}

// random is a start that a path leads on from.
func random(chance *rand.Rand) start {
	for {
		s := start{planes: 1 + 2*chance.IntN(3), workers: chance.IntN(5), autoscaled: chance.IntN(3)}
		s.now = upgradepath.State{Talos: fmt.Sprintf("v1.%d.%d", 11+chance.IntN(4), chance.IntN(7)), Kubernetes: fmt.Sprintf("1.%d.0", 33+chance.IntN(5))}
		s.goal = upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.37.0"}
		ok, _ := upgradepath.Supports(s.now.Talos, s.now.Kubernetes)
		if _, err := upgradepath.Path(s.now, s.goal); err == nil && ok && !upgradepath.Newer(s.now.Talos, s.goal.Talos) {
			return s
		}
	}
}

// halfway lets some nodes have the first hop already, as after a run that was
// interrupted long ago.
func (w *world) halfway() {
	plan := upgrade.Make(w.want, w.observe(), w.policy)
	if len(plan.Steps) > 0 {
		w.faults = false
		w.drive(w.chance.IntN(len(plan.Steps)), true)
		w.faults = true
	}
}
