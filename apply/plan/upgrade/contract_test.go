package upgrade_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/upgrade"
)

// moving is a cluster that has all versions, and configurations of the contract before.
func moving() *sample {
	s := sampled(patch)
	for i := range s.seen.Nodes {
		n := &s.seen.Nodes[i]
		n.Talos, n.Schematic, n.Contract = "v1.14.1", now, "v1.13"
	}
	s.seen.Saved = []string{"contract"}
	return s
}

// TestContractChanges: what comes with the new contract takes consent, and what a node
// must keep is refused for all before the first one moves.
func TestContractChanges(t *testing.T) {
	s := moving()
	s.node("plane-2").Moves = []string{"SysctlConfig[a]", "SecurityProfileConfig.WorkloadIsolation"}
	if d := upgrade.Next(s.want, s.seen, s.policy); short(d) != "stop C-contract plane-2" || !strings.Contains(d.Stop[0].Text, "SysctlConfig[a], Sec") {
		t.Errorf("%s: %v", short(d), d.Stop)
	}
	s.node("worker-1").Moves = []string{"SysctlConfig[a]", "SysctlConfig[b]"}
	if p := upgrade.Make(s.want, s.seen, s.policy); len(p.Risks) != 1 || !strings.HasSuffix(p.Risks[0].Text, ": SecurityProfileConfig.WorkloadIsolation, SysctlConfig[a], SysctlConfig[b]") {
		t.Errorf("the plan does not name what changes on all nodes: %v", p.Risks)
	}
	s.policy.Allow = append(s.policy.Allow, upgrade.RiskContract)
	if d := upgrade.Next(s.want, s.seen, s.policy); short(d) != "contract plane-2" || strings.Join(d.Steps[0].Risks, " ") != upgrade.RiskContract {
		t.Errorf("%s: %v", short(d), d.Steps)
	}
	s.node("worker-1").Unmovable = []string{"NetworkHostnameConfig.Hostname"}
	if d := upgrade.Next(s.want, s.seen, s.policy); short(d) != "stop R8 worker-1" {
		t.Errorf("%s: %v", short(d), d.Stop)
	}
}

// TestContractWaits: no node gets a configuration of the new contract as long as one of
// them runs a Talos that does not read it, whether it is reached or not.
func TestContractWaits(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(n *upgrade.Node)
		want string
		left string
	}{
		{"all read it", func(*upgrade.Node) {}, "snapshot etcd contract plane-2 contract plane-3 contract plane-1 contract worker-1 contract worker-2", ""},
		{"one is gone", func(n *upgrade.Node) { n.Reached = false }, "snapshot etcd contract plane-2 contract plane-3 contract plane-1 contract worker-1", "worker-2: it is not reached"},
		{"one is gone with an old one", func(n *upgrade.Node) { n.Reached, n.Talos = false, "v1.13.9" }, "", "plane-1: it keeps the contract"},
		{"nobody knows what one has", func(n *upgrade.Node) { n.Reached, n.Talos = false, "" }, "", "plane-1: it keeps the contract"},
	} {
		s := moving()
		s.seen.Saved = nil
		c.set(s.node("worker-2"))
		var got, left []string
		p := upgrade.Make(s.want, s.seen, s.policy)
		for _, step := range p.Steps {
			got = append(got, string(step.Action)+" "+step.Node)
		}
		for _, n := range p.Left {
			left = append(left, n.Node+": "+n.Text)
		}
		if strings.Join(got, " ") != c.want || !strings.HasPrefix(strings.Join(left, "\n"), c.left) {
			t.Errorf("%s: %v, left: %v, refused: %v", c.name, got, left, p.Refusals)
		}
	}
}
