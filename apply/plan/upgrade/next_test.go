package upgrade_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/apply/plan/upgrade"
)

var patch = start{3, 2, 0, upgradepath.State{Talos: "v1.14.0", Kubernetes: "1.37.0"}, upgradepath.State{Talos: "v1.14.1", Kubernetes: "1.37.0"}}

// sample is an environment, and what is observed in it.
type sample struct {
	*world
	seen upgrade.Observed
}

func sampled(s start) *sample {
	w := build(s, nil)
	for _, m := range w.machines {
		m.Contract = "v1.14"
	}
	return &sample{w, w.observe()}
}

func (s *sample) node(name string) *upgrade.Node {
	i := slices.IndexFunc(s.seen.Nodes, func(n upgrade.Node) bool { return n.Name == name })
	return &s.seen.Nodes[i]
}

// short is a decision in one text.
func short(d upgrade.Decision) string {
	var texts []string
	for _, s := range d.Steps {
		texts = append(texts, fmt.Sprintf("%s %s", s.Action, s.Node))
	}
	for _, n := range d.Wait {
		texts = append(texts, strings.Join(strings.Fields("wait "+n.ID+" "+n.Node), " "))
	}
	for _, n := range d.Stop {
		texts = append(texts, strings.Join(strings.Fields("stop "+n.ID+" "+n.Node), " "))
	}
	if d.Done {
		texts = append(texts, "done")
	}
	return strings.Join(texts, ", ")
}

// ready lets everything be pulled and saved.
func (s *sample) ready() {
	for i := range s.seen.Nodes {
		s.seen.Nodes[i].Images = []string{"factory/hcloud-installer/2222:v1.14.1"}
	}
	s.seen.Saved = []string{"talos v1.14.1"}
}

// TestNode goes through the states of a node.
func TestNode(t *testing.T) {
	mark := func(phase upgrade.MarkPhase, boot string, try int) *upgrade.Mark {
		return &upgrade.Mark{Phase: phase, Version: "1.14.1", Schematic: now, Boot: boot, Try: try, Run: "another"}
	}
	target := func(n *upgrade.Node) { n.Talos, n.Schematic = "v1.14.1", now }
	for _, c := range []struct {
		state string
		set   func(s *sample, n *upgrade.Node)
		want  string
	}{
		{"due", func(*sample, *upgrade.Node) {}, "drain plane-2"}, // plane-1 leads
		{"drained", func(_ *sample, n *upgrade.Node) { n.Drained = true }, "install plane-2"},
		{"drained, image collected", func(_ *sample, n *upgrade.Node) { n.Drained, n.Images = true, nil }, "pull plane-2"},
		{"drained, not saved", func(s *sample, n *upgrade.Node) { n.Drained, s.seen.Saved = true, nil }, "snapshot etcd"},
		{"drained, nothing due", func(_ *sample, n *upgrade.Node) { n.Drained = true; target(n) }, "uncordon plane-2"},
		{"installing", func(_ *sample, n *upgrade.Node) {
			n.Drained, n.Busy, n.Mark = true, true, mark(upgrade.Installing, "0", 1)
		}, "wait plane-2"},
		{"unknown", func(_ *sample, n *upgrade.Node) { n.Drained, n.Mark = true, mark(upgrade.Installing, "0", 1) }, "boot plane-2"},
		{"installed", func(_ *sample, n *upgrade.Node) { n.Drained, n.Mark = true, mark(upgrade.Installed, "0", 1) }, "boot plane-2"},
		{"installed, leads", func(s *sample, n *upgrade.Node) {
			n.Drained, n.Mark = true, mark(upgrade.Installed, "0", 1)
			s.seen.Members[0].Leader, s.seen.Members[1].Leader = false, true
		}, "transfer plane-2"},
		{"installed, others away", func(s *sample, n *upgrade.Node) {
			n.Drained, n.Mark = true, mark(upgrade.Installed, "0", 1)
			s.node("plane-3").Reached = false
		}, "wait plane-2"},
		{"booting", func(_ *sample, n *upgrade.Node) {
			n.Drained, n.Stage, n.Mark = true, "rebooting", mark(upgrade.Installed, "0", 1)
		}, "wait plane-2"},
		{"gone", func(_ *sample, n *upgrade.Node) {
			n.Drained, n.Reached, n.Mark = true, false, mark(upgrade.Installed, "0", 1)
		}, "wait plane-2"},
		{"new", func(_ *sample, n *upgrade.Node) { n.Drained, n.Mark = true, mark(upgrade.Installed, "9", 1); target(n) }, "confirm plane-2"},
		{"new, not ready", func(_ *sample, n *upgrade.Node) {
			n.Drained, n.Ready, n.Mark = true, false, mark(upgrade.Installed, "9", 1)
			target(n)
		}, "wait plane-2"},
		{"new, does not vote", func(s *sample, n *upgrade.Node) {
			n.Drained, n.Mark = true, mark(upgrade.Installed, "9", 1)
			target(n)
			s.seen.Members[1].Healthy = false
		}, "wait plane-2"},
		{"half", func(_ *sample, n *upgrade.Node) {
			n.Drained, n.Mark = true, mark(upgrade.Installed, "9", 1)
			n.Talos = "v1.14.1"
		}, "stop plane-2"},
		{"new, its extension has another name", func(_ *sample, n *upgrade.Node) {
			n.Drained, n.Mark, n.Extensions = true, mark(upgrade.Installed, "9", 1), nil
			target(n)
		}, "confirm plane-2"},
		{"returned", func(_ *sample, n *upgrade.Node) { n.Drained, n.Mark = true, mark(upgrade.Installed, "9", 1) }, "uncordon plane-2, stop plane-2"},
		{"returned, retried", func(s *sample, n *upgrade.Node) {
			n.Drained, n.Mark, s.policy.Retry = true, mark(upgrade.Installed, "9", 1), []string{"plane-2"}
		}, "forget plane-2"},
		{"retried once in this run", func(s *sample, n *upgrade.Node) {
			n.Mark, s.policy.Retry = mark(upgrade.Installed, "9", 1), []string{"plane-2"}
			n.Mark.Run = s.seen.Run
		}, "stop plane-2"},
		{"not taken", func(_ *sample, n *upgrade.Node) { n.Drained, n.Mark = true, mark(upgrade.Installing, "9", 1) }, "install plane-2"},
		{"not taken twice", func(_ *sample, n *upgrade.Node) { n.Drained, n.Mark = true, mark(upgrade.Installing, "9", 2) }, "uncordon plane-2, stop plane-2"},
		{"failed", func(_ *sample, n *upgrade.Node) { n.Drained, n.Mark = true, mark(upgrade.Failed, "0", 1) }, "uncordon plane-2, stop plane-2"},
		{"failed, retried", func(s *sample, n *upgrade.Node) {
			n.Mark, s.policy.Retry = mark(upgrade.Failed, "0", 1), []string{"plane-2"}
		}, "drain plane-2"},
		{"failed, retried, drained", func(s *sample, n *upgrade.Node) {
			n.Drained, n.Mark, s.policy.Retry = true, mark(upgrade.Failed, "0", 1), []string{"plane-2"}
		}, "boot plane-2"},
	} {
		s := sampled(patch)
		s.ready()
		c.set(s, s.node("plane-2"))
		if got := short(upgrade.Next(s.want, s.seen, s.policy)); got != c.want {
			t.Errorf("%s: %s, expected %s", c.state, got, c.want)
		}
	}
}

// TestRules has what stands against an upgrade, by its id.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(s *sample)
		want string
	}{
		{"nothing", func(*sample) {}, "drain plane-2"},
		{"R1: a node that is newer", func(s *sample) { s.node("worker-1").Talos = "v1.15.0" }, "stop R1 worker-1"},
		{"R3: a member that is not healthy", func(s *sample) { s.seen.Members[2].Healthy = false }, "wait R3 plane-3"},
		{"R3: an alarm", func(s *sample) { s.seen.Members[2].Alarm = "NOSPACE" }, "wait R3 plane-3"},
		{"R3: a learner", func(s *sample) { s.seen.Members[2].Learner = true }, "wait R3 plane-3"},
		{"R3: members unknown", func(s *sample) { s.seen.Known = false }, "wait R3"},
		{"R3: a member too much", func(s *sample) {
			s.seen.Members = append(s.seen.Members, upgrade.Member{Node: "old", Healthy: true})
		}, "wait R3 old"},
		{"R4: two members, and the call of before Talos 1.13", func(s *sample) {
			for i := range s.seen.Nodes {
				n := &s.seen.Nodes[i]
				n.Talos, n.Kubelet, n.Programs = "v1.12.7", "1.35.6", nil
			}
			s.seen.Members = s.seen.Members[:2]
		}, "stop R4 plane-1, stop R4 plane-2, stop R4 plane-3"},
		{"R6: another platform", func(s *sample) { s.node("worker-2").Platform = "metal" }, "stop R6 worker-2"},
		{"R7: no room", func(s *sample) { s.node("plane-1").Cramped = true }, "stop R7 plane-1"},
		{"R8: an invalid configuration", func(s *sample) { s.node("plane-1").Invalid = "unknown key" }, "stop R8 plane-1"},
		{"R9: a kubelet that is too new", func(s *sample) {
			for _, name := range []string{"plane-1", "plane-2", "plane-3"} {
				s.node(name).Programs[upgrade.APIServer] = upgrade.Program{Configured: "1.36.4", Running: "1.36.4", Ready: true}
			}
		}, "stop R9 plane-1, stop R9 plane-2, stop R9 plane-3, stop R9 worker-1, stop R9 worker-2"},
		{"R11: a control plane away", func(s *sample) { s.node("plane-3").Reached = false }, "wait R11 plane-3"},
		{"R12: drift", func(s *sample) { s.seen.Drift = []string{"a flag"} }, "stop R12"},
		{"a worker that is not ready", func(s *sample) { s.node("worker-1").Ready = false }, "wait worker-1"},
		{"a worker that is away", func(s *sample) { s.node("worker-1").Reached = false }, "drain plane-2"},
		{"a problem", func(s *sample) { s.seen.Problems = []string{"a volume is attached twice"} }, "wait"},
		{"C-extensions", func(s *sample) { s.node("plane-2").Extensions = []string{"iscsi", "zfs"} }, "stop C-extensions plane-2"},
		{"C-extensions: nobody knows those of Git's image", func(s *sample) {
			for i := range s.want.Nodes {
				s.want.Nodes[i].Schematic, s.want.Nodes[i].Extensions = "", nil
			}
		}, "stop C-extensions plane-2"},
		{"C-pdb", func(s *sample) {
			s.seen.Budgets = []upgrade.Budget{{Name: "shop/db", Nodes: []string{"plane-2"}, Stuck: true}}
		}, "stop C-pdb:shop/db plane-2"},
		{"C-pods", func(s *sample) { s.seen.Bare = map[string][]string{"plane-2": {"shop/bare"}} }, "stop C-pods:shop/bare plane-2"},
		{"no snapshot", func(s *sample) { s.seen.Saved = nil }, "snapshot etcd"},
		{"no snapshot, agreed", func(s *sample) {
			s.seen.Saved, s.policy.Allow = nil, []string{upgrade.RiskNoSnapshot}
		}, "drain plane-2"},
		{"images", func(s *sample) { s.node("worker-2").Images, s.seen.Saved = nil, nil }, "pull worker-2"},
		{"a name of nobody", func(s *sample) { s.policy.Nodes = []string{"worker-1", "worker-8"} }, "stop worker-8"},
		{"a worker, before control planes", func(s *sample) { s.policy.Nodes = []string{"worker-1"} }, "done"},
		{"a control plane that leads", func(s *sample) { s.policy.Nodes = []string{"plane-1"} }, "drain plane-1"},
		{"R2: etcd that stays behind", func(s *sample) {
			for i := range s.seen.Nodes {
				s.seen.Nodes[i].Talos, s.seen.Nodes[i].Kubelet = "v1.13.9", "1.36.3"
			}
			s.seen.Members[1].Version = "3.6.4"
		}, "stop R2 plane-2"},
		{"C-no-return", func(s *sample) {
			s.policy.Allow = nil
			for i := range s.seen.Nodes {
				s.seen.Nodes[i].Talos = "v1.13.9"
			}
		}, "stop C-no-return plane-2"},
		{"C-downgrade", func(s *sample) {
			for i := range s.seen.Nodes {
				s.seen.Nodes[i].Talos, s.seen.Nodes[i].Schematic = "v1.14.2", now
			}
			s.ready()
		}, "stop C-downgrade plane-2"},
	} {
		s := sampled(patch)
		s.ready()
		c.set(s)
		if got := short(upgrade.Next(s.want, s.seen, s.policy)); got != c.want {
			t.Errorf("%s: %s, expected %s", c.name, got, c.want)
		}
	}
}

// TestKnown tells ids of risks from what is none.
func TestKnown(t *testing.T) {
	for id, want := range map[string]bool{
		"C-hops": true, "C-unknown": true, "C-prerelease": true, "C-pdb:shop/db": true, "C-pods:a/b": true,
		"": false, "C-nonsense": false, "c-hops": false, "C-hops:x": false, "C-pdb": false, "C-pods:": false, "R3": false,
	} {
		if upgrade.Known(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}

// TestUnreleased: a version before its release, and a minor that nobody knows here, take
// consent.
func TestUnreleased(t *testing.T) {
	for talos, want := range map[string]string{"v1.14.2-rc.0": "C-prerelease", "v1.15.0": "C-hops C-unknown", "v1.15.0-alpha.1": "C-hops C-prerelease C-unknown", "v1.14.2": ""} {
		w := build(patch, nil)
		for _, m := range w.machines {
			m.Contract = "v1.14"
		}
		w.wanting(talos, now)
		plan := upgrade.Make(w.want, w.observe(), upgrade.Policy{})
		if got := strings.Join(plan.Missing(), " "); got != want {
			t.Errorf("%s: %q, want %q", talos, got, want)
		}
	}
}

// TestParallel: how many workers may be away is a number, or a part of them, and never
// none.
func TestParallel(t *testing.T) {
	for _, c := range []struct{ number, percent, of, want int }{{0, 0, 5, 1}, {3, 0, 5, 3}, {0, 10, 100, 10}, {0, 10, 5, 1}, {0, 50, 5, 2}, {0, 100, 5, 5}} {
		if got := (upgrade.Policy{MaxParallel: c.number, Percent: c.percent}).Parallel(c.of); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	s := patch
	s.workers = 8
	w := build(s, nil)
	w.policy = upgrade.Policy{Percent: 50}
	for _, m := range w.machines {
		if m.Contract = "v1.14"; m.Role == upgrade.ControlPlane || m.Name == "worker-1" {
			m.Talos, m.Schematic = "v1.14.1", now
		}
		m.Images = []string{"factory/hcloud-installer/2222:v1.14.1"}
	}
	if d := upgrade.Next(w.want, w.observe(), w.policy); len(d.Steps) != 4 {
		t.Errorf("half of 8 workers: %s", short(d))
	}
}
