package apply

import (
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/recreate"
)

// Plan is what has to be done, section by section.
type Plan struct {
	// The infrastructure; see the package plan.
	*cloudplan.Plan
	// The nodes, as they will be once the infrastructure is there; nil if they
	// were not looked at. See the package plan/nodes.
	Nodes *nodeplan.Plan `json:"nodes,omitempty"`
	// What runs in the cluster; nil if that was not looked at. See the package
	// plan/kube.
	Kubernetes *kubeplan.Plan `json:"kubernetes,omitempty"`

	// The nodes that are made anew one after the other, when everything else is done;
	// nil: nothing forces that. See the package plan/recreate.
	Recreate *recreate.Plan `json:"recreate,omitempty"`

	kept    string // what stands for the files of the nodes
	node    nodeplan.Policy
	objects plan.Consent // to changes in Kubernetes
	// What was agreed to, with what follows from it for nodes that are made anew.
	consented plan.Consent
	older     bool // somebody agreed to a tree that is older than what was applied
}
