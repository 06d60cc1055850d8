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
	var others []rotation.Node
	for _, w := range m.desired.Nodes {
		n := m.observed.node(w.Name)
		if n.Reach == Maintenance {
			continue
		}
		other := rotation.Node{Name: w.Name}
		if n.Reach == Configured && n.Config != nil {
			trust := n.Config.Trust()
			other.Trust = &trust
		}
		others = append(others, other)
	}
	return rotation.Gate(node.Config.Trust(), want.Config.Trust(), others)
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
