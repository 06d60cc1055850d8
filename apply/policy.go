package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// Stage is a part of a run.
type Stage string

// The stages, in their order.
const (
	StageInfrastructure Stage = "infrastructure"
	stageNodes          Stage = "nodes"
	stageKubernetes     Stage = "kubernetes"
)

// Stages are all of them.
func Stages() []Stage { return []Stage{StageInfrastructure, stageNodes, stageKubernetes} }

// Policy is how a run goes about things.
type Policy struct {
	plan.Consent
	// How far it goes with nodes that run; empty: [nodeplan.Auto].
	Mode nodeplan.Mode
	// How many workers may be away at once; 0 is 1.
	MaxParallel int
	// The names of the nodes that it is about; none are all.
	Nodes []string
	// The stages that it has; none are all.
	Stages []Stage
}

// has reports whether a run has a stage.
func (p Policy) has(s Stage) bool { return len(p.Stages) == 0 || slices.Contains(p.Stages, s) }

// nodeKey begins the key of a node in plans.
const nodeKey = "node/"

// forNodes is the policy for a plan of nodes. With consent to everything, it
// names them all.
func (p Policy) forNodes(all []string) nodeplan.Policy {
	n := nodeplan.Policy{Mode: p.Mode, MaxParallel: p.MaxParallel, Only: p.Nodes}
	for _, name := range all {
		server := string(cloudplan.KeyOf(cloudplan.KindServer, name))
		if p.AllowDestroy || slices.Contains(p.Allow, name) || slices.Contains(p.Allow, server) {
			n.Allow = append(n.Allow, name)
		}
		// A machine is trusted by this name only, not by that of what may be removed.
		if slices.Contains(p.Allow, nodeKey+name) {
			n.Trust = append(n.Trust, name)
		}
	}
	return n
}

// skips reports whether a run leaves a node alone.
func (p Policy) skips(node string) bool { return len(p.Nodes) > 0 && !slices.Contains(p.Nodes, node) }
