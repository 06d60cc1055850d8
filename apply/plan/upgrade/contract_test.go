package upgrade_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/upgrade"
)

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
		s := sampled(patch)
		for i := range s.seen.Nodes {
			n := &s.seen.Nodes[i]
			n.Talos, n.Schematic, n.Contract = "v1.14.1", now, "v1.13"
		}
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
