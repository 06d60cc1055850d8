package nodes

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/rotation"
)

// rotationWaits says why a node must not get the authorities of Git yet: others
// would not trust it, or it not them. New nodes get what Git has, and are trusted.
func (m *planner) rotationWaits(want Want, node Node) string {
	if node.Reach != Configured || node.Config == nil || want.Config == nil {
		return ""
	}
	has, wants := node.Config.Trust(), want.Config.Trust()
	if has.Equal(wants) {
		return "" // as nearly always: the others are not looked at
	}
	if m.trusts == nil {
		m.trusts = trustsOf(m.desired.Nodes, m.observed.Nodes)
	}
	return rotation.Gate(has, wants, m.trusts)
}

// trustsOf are the nodes that have a configuration, or may have one that is not known.
func trustsOf(desired []Want, observed []Node) []rotation.Node {
	seen := map[string]Node{}
	for _, n := range observed {
		seen[n.Name] = n
	}
	all := []rotation.Node{}
	for _, w := range desired {
		n := seen[w.Name]
		if n.Reach == Maintenance {
			continue
		}
		other := rotation.Node{Name: w.Name}
		if n.Reach == Configured && n.Config != nil {
			trust := n.Config.Trust()
			other.Trust = &trust
		}
		all = append(all, other)
	}
	return all
}

// certifiers are the steps that a worker waits for which gets another authority:
// control planes sign its certificate, and it asks for one only then.
func certifiers(p *Plan, want Want, d *nodeconfig.Difference) (needs []plan.Key) {
	renewed := func(c nodeconfig.Change) bool {
		return c.Path == "machine.ca" || strings.HasPrefix(c.Path, "machine.ca.")
	}
	if want.Role == ControlPlane || !slices.ContainsFunc(d.Changes, renewed) {
		return nil
	}
	for _, s := range p.Steps {
		if s.Action == Configure && s.Role == ControlPlane {
			needs = append(needs, s.Key)
		}
	}
	return needs
}
