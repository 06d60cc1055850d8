package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// usable reports whether the section of nodes has a control plane that is
// neither away nor refused. Without one there is no API to wait for: the section
// of nodes says what is wrong. Those that wait for the bootstrap are on their way
// up, though nobody can talk to them yet.
func (k *kubeReach) usable(p *Plan) bool {
	return bootstraps(p) || slices.ContainsFunc(k.inventory.machines(p.Observed, toCreate(p.Plan)), func(m nodes.Machine) bool {
		return m.Role == nodeplan.ControlPlane && !slices.Contains(p.Nodes.Unreachable, m.Name) &&
			!slices.ContainsFunc(p.Nodes.Refusals, func(n plan.Note) bool { return n.Key == plan.Key("node/"+m.Name) })
	})
}

// bootstraps reports whether a plan bootstraps the cluster.
func bootstraps(p *Plan) bool {
	return p.Nodes != nil && slices.ContainsFunc(p.Nodes.Steps, func(step nodeplan.Step) bool { return step.Action == nodeplan.Bootstrap })
}

// mayServe reports whether the cluster has been bootstrapped, as far as the
// section of nodes knows. One that has been must answer: what cannot be asked is
// not absent.
func (k *kubeReach) mayServe(p *Plan) bool {
	if bootstraps(p) {
		return false
	}
	return len(k.inventory.controlPlanes(p.Observed, toCreate(p.Plan))) > 0
}
