package nodes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// Recreation is a node with a configuration that only a new machine has: a disk is
// encrypted, or chosen, when Talos is installed.
type Recreation struct {
	Node    string              `json:"node"`
	Role    string              `json:"role"`
	Changes []nodeconfig.Change `json:"changes"`
}

// Reasons are what forces it, as people read it: several values of a part of a document
// are one reason.
func (r Recreation) Reasons() (texts []string) {
	count := map[string]int{}
	for _, c := range r.Changes {
		count[partOf(c)]++
	}
	for i, c := range r.Changes {
		switch part := partOf(c); {
		case count[part] == 1:
			texts = append(texts, c.String()+" ("+c.Reason+")")
		case !slices.ContainsFunc(r.Changes[:i], func(o nodeconfig.Change) bool { return partOf(o) == part }):
			texts = append(texts, fmt.Sprintf("~ %s: %d values (%s)", part, count[part], c.Reason))
		}
	}
	return texts
}

// partOf is the part of a document that a change is in.
func partOf(c nodeconfig.Change) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(c.Path, "machine."), ".")
	return strings.TrimSpace(c.Document + " " + path)
}

// OnlyNew are the nodes of the tree that only a new machine can be as Git says.
func OnlyNew(desired Desired, observed Observed, policy Policy) (found []Recreation) {
	m := &planner{observed: observed}
	for _, want := range desired.Nodes {
		if want.Autoscaled || !policy.concerns(want.Name) {
			continue
		}
		d, err := m.compare(want, observed.node(want.Name))
		if err != nil {
			continue // the plan says it
		}
		r := Recreation{Node: want.Name, Role: want.Role}
		for _, c := range d.Held {
			if c.Class == nodeconfig.Replacement && !c.Whole() {
				r.Changes = append(r.Changes, c)
			}
		}
		if len(r.Changes) > 0 {
			found = append(found, r)
		}
	}
	return found
}

// recreates are the nodes that are about to be made anew: nothing is done to what they
// are now, but for what takes them out of the cluster.
func (p Policy) recreates(found []Recreation) (names []string) {
	for _, name := range p.Recreate {
		if slices.Contains(p.Forced, name) || slices.ContainsFunc(found, func(r Recreation) bool { return r.Node == name }) {
			names = append(names, name)
		}
	}
	return names
}

// PlanRecreate plans how a node leaves that is made anew: as [PlanRemoval], for which
// wipe says that its machine stays. It refuses to make the only control plane anew, for
// that would be another cluster.
func PlanRecreate(desired Desired, observed Observed, policy Policy, wipe bool, name string) (*Plan, error) {
	if EndsEtcd(desired, observed, name) {
		m := &planner{plan: &Plan{Cluster: desired.Cluster, Reads: observed.digests()}}
		m.refuse(name, "it must not be recreated: it is the only control plane node, and the cluster would be lost with it",
			"add control plane nodes first (count in cluster.yaml), and take them out again afterwards; or end the cluster, and recover it from a snapshot of etcd (docs/how-to/recover.md)")
		return m.plan, nil
	}
	return PlanRemoval(desired, afterJoins(desired, observed, name), policy, wipe, name)
}

// afterJoins is what is observed as it will be when the new control planes have joined:
// a run lets them join before it makes other nodes anew. Without them etcd may be short of
// members, and then nothing would ever be done.
func afterJoins(desired Desired, observed Observed, but string) Observed {
	observed.Nodes, observed.Members = slices.Clone(observed.Nodes), slices.Clone(observed.Members)
	for i, n := range observed.Nodes {
		want := slices.IndexFunc(desired.Nodes, func(w Want) bool { return w.Name == n.Name && w.Role == ControlPlane && !w.Autoscaled })
		if want < 0 || n.Name == but || n.Reach != Maintenance || len(observed.Members) == 0 {
			continue
		}
		observed.Nodes[i].Reach, observed.Nodes[i].Stage = Configured, StageRunning
		observed.Members = slices.DeleteFunc(observed.Members, func(m Member) bool { return m.Node == n.Name })
		observed.Members = append(observed.Members, Member{Node: n.Name, Healthy: true})
	}
	return observed
}
