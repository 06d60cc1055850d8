package apply

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
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
	return p.Nodes != nil && slices.ContainsFunc(p.Nodes.Steps, isBootstrap)
}

func isBootstrap(step nodeplan.Step) bool { return step.Action == nodeplan.Bootstrap }

// mayServe reports whether the cluster has been bootstrapped, as far as the
// section of nodes knows. One that has been must answer: what cannot be asked is
// not absent.
func (k *kubeReach) mayServe(p *Plan) bool {
	if bootstraps(p) {
		return false
	}
	return len(k.inventory.controlPlanes(p.Observed, toCreate(p.Plan))) > 0
}

// unbootstrapped is why Kubernetes does not serve after a run that was to bootstrap it;
// nil: it was bootstrapped, or that was not to be done.
func (k *kubeReach) unbootstrapped(r *run) error {
	left := r.report.Left.Nodes
	if !bootstraps(r.agreed) || left == nil || slices.ContainsFunc(r.report.Steps, isBootstrap) {
		return nil
	}
	var unreached []string
	for _, m := range k.inventory.controlPlanes(r.report.Left.Observed, nil) {
		if slices.Contains(left.Unreachable, m.Name) {
			unreached = append(unreached, m.Name)
		}
	}
	if len(unreached) == 0 {
		return nil
	}
	return diag.On("etcd", "is not bootstrapped: control plane nodes are not reached: %s", strings.Join(unreached, ", ")).
		WithHint("apply again when they are").WithCode(diag.NotReady)
}
