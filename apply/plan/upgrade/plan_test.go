package upgrade_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/apply/plan/upgrade"
)

// TestPlan prints a plan as people see it: Talos and Kubernetes of workers come with
// one drain, who leads etcd comes last, and each risk says what agrees to it.
func TestPlan(t *testing.T) {
	w := build(start{3, 2, 1, upgradepath.State{Talos: "v1.13.9", Kubernetes: "1.35.4"}, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.36.3"}}, nil)
	w.policy = upgrade.Policy{}
	plan := upgrade.Make(w.want, w.observe(), w.policy)
	want := `talos v1.14.1
  pull                       6 nodes
  snapshot                   etcd
  drain, install, boot       plane-2, plane-3, plane-1
manifests 1.35.4
  manifests                  cluster
kubernetes 1.36.3
  pull                       6 nodes
  snapshot                   etcd
  kube-apiserver             plane-1, plane-3, plane-2
  kube-controller-manager    plane-1, plane-3, plane-2
  kube-scheduler             plane-1, plane-3, plane-2
  kube-proxy                 plane-1, plane-3, plane-2
  kubelet                    plane-1, plane-3, plane-2, worker-1, worker-2, burst-1
  drain, install, boot       worker-1, worker-2, burst-1
manifests 1.36.3
  manifests                  cluster
contract
  snapshot                   etcd
  contract                   plane-1, plane-3, plane-2, worker-1, worker-2
risks:
  C-no-return  etcd gets another minor: no way back when the last control plane node has it   --allow C-no-return`
	if got := strings.Join(plan.Lines(), "\n"); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	drains := 0
	for _, s := range plan.Steps {
		if s.Action == upgrade.Drain && s.Node == "worker-1" {
			drains++
		}
	}
	if missing := plan.Missing(); drains != 1 || !slices.Equal(missing, []string{upgrade.RiskNoReturn}) {
		t.Errorf("worker-1 is drained %d times, and %v takes consent", drains, missing)
	}
}

// TestPlanAmidst: of an upgrade that has begun, the plan has the objects that the new
// Talos brings when the last control plane node runs it, and nobody is to bring them
// by hand.
func TestPlanAmidst(t *testing.T) {
	for _, c := range []struct{ from, objects string }{
		{"v1.13.9", "manifests 1.35.4, manifests 1.36.3"}, // other ones, as a rule
		{"v1.14.0", "manifests 1.36.3"},
	} {
		w := build(start{3, 0, 0, upgradepath.State{Talos: c.from, Kubernetes: "1.35.4"}, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.36.3"}}, nil)
		w.machine("plane-2").Talos = "v1.14.1"
		plan := upgrade.Make(w.want, w.observe(), upgrade.Policy{})
		var objects []string
		for _, s := range plan.Steps {
			if s.Action == upgrade.Manifests {
				objects = append(objects, s.Hop)
			}
		}
		if got := strings.Join(objects, ", "); got != c.objects || strings.Contains(plan.String(), "keep their images") {
			t.Errorf("from %s: %s\n%s", c.from, got, plan)
		}
	}
}

// TestPlanIsTheRun: what a plan shows is what a run does if all goes well.
func TestPlanIsTheRun(t *testing.T) {
	for seed := range uint64(30) {
		chance := rand.New(rand.NewPCG(seed, 37))
		w := build(random(chance), chance)
		plan := upgrade.Make(w.want, w.observe(), w.policy)
		w.finish(t)
		var steps []string
		for _, s := range plan.Steps {
			steps = append(steps, string(s.Action)+" "+s.Node+" "+s.Version)
		}
		if len(steps) != len(w.log) {
			t.Errorf("seed %d: the plan has %d steps, and the run %d: %v", seed, len(steps), len(w.log), plan.Refusals)
		}
		for i := range min(len(steps), len(w.log)) {
			if steps[i] != w.log[i] {
				t.Errorf("seed %d: step %d of the plan is %s, and of the run %s", seed, i, steps[i], w.log[i])
				break
			}
		}
	}
}

// TestLimits ends upgrades early, and says what is left.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy upgrade.Policy
		nodes  string // that get something
		left   int
	}{
		{"all", upgrade.Policy{}, "plane-1 plane-2 plane-3 worker-1 worker-2 burst-1", 0},
		{"first", upgrade.Policy{Until: upgrade.First}, "plane-2", 5},
		{"control planes", upgrade.Policy{Until: upgrade.ControlPlanes}, "plane-1 plane-2 plane-3", 3},
		{"autoscaled stay", upgrade.Policy{Autoscaled: upgrade.Leave}, "plane-1 plane-2 plane-3 worker-1 worker-2", 1},
		{"one node", upgrade.Policy{Nodes: []string{"plane-3"}}, "plane-3", 5},
		{"Kubernetes", upgrade.Policy{Component: upgrade.OnlyKubernetes}, "", 0},
	} {
		s := patch
		s.autoscaled = 1
		w := build(s, nil)
		for _, m := range w.machines {
			m.Contract = "v1.14"
		}
		plan := upgrade.Make(w.want, w.observe(), c.policy)
		var nodes []string
		for _, m := range w.machines {
			if slices.ContainsFunc(plan.Steps, func(s upgrade.Step) bool { return s.Action != upgrade.Pull && s.Node == m.Name }) {
				nodes = append(nodes, m.Name)
			}
		}
		if got := strings.Join(nodes, " "); got != c.nodes || len(plan.Left) != c.left && c.nodes != "" {
			t.Errorf("%s: %s, and %d nodes are left: %v", c.name, got, len(plan.Left), plan.Left)
		}
	}
}

// TestPlanRecycles shows what is deleted last, and what that costs; with an autoscaler that
// would make the same again, only why it is not.
func TestPlanRecycles(t *testing.T) {
	w := build(start{1, 1, 2, upgradepath.State{Talos: "v1.14.0", Kubernetes: "1.36.3"}, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.36.3"}}, nil)
	for _, m := range w.machines {
		m.Contract = "v1.14"
	}
	pool := w.want.Pools["burst"]
	pool.Server = "cpx22"
	w.want.Pools["burst"] = pool
	seen, policy := w.observe(), upgrade.Policy{Autoscaled: upgrade.Recycle}
	const before = `talos v1.14.1
  pull                       2 nodes
  snapshot                   etcd
  drain, install, boot       plane-1, worker-1
`
	const single = "  C-single  the only control plane node reboots: no Kubernetes API meanwhile   --allow C-single\n"
	want := before + `recycle
  drain, delete server       burst-1, burst-2
risks:
` + single + `  C-recycle  servers of the autoscaler are deleted with their disks; it makes new ones when pods find no place, each billed from its first hour: 2 cpx22   --allow C-recycle`
	if got := strings.Join(upgrade.Make(w.want, seen, policy).Lines(), "\n"); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	seen.Stale = "it makes the same"
	want = before + "risks:\n" + single + `stays:
  R12  it makes the same; run talosgen apply first, and then the same command again
  burst-1: the autoscaler made it: it keeps Talos v1.14.0 and Kubernetes 1.36.3
  burst-2: the autoscaler made it: it keeps Talos v1.14.0 and Kubernetes 1.36.3`
	if got := strings.Join(upgrade.Make(w.want, seen, policy).Lines(), "\n"); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

// TestRecycleBehind: a kubelet that waits for the end must not fall behind too far.
func TestRecycleBehind(t *testing.T) {
	w := build(start{1, 0, 1, upgradepath.State{Talos: "v1.12.11", Kubernetes: "1.33.0"}, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.37.0"}}, nil)
	plan := upgrade.Make(w.want, w.observe(), upgrade.Policy{Autoscaled: upgrade.Recycle})
	if len(plan.Refusals) != 1 || plan.Refusals[0].ID != "R9" || plan.Refusals[0].Hint != "--autoscaled in-place upgrades it on the way" {
		t.Errorf("refused: %v", plan.Refusals)
	}
}
