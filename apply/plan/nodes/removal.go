package nodes

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// PlanRemoval plans to take nodes that the tree has out of a cluster that goes on
// without them, by the steps and rules by which one is removed that the tree
// does not have any more. wipe says that their machines stay, and forget what
// they were: then they wait in maintenance mode.
func PlanRemoval(desired Desired, observed Observed, policy Policy, wipe bool, names ...string) (*Plan, error) {
	desired.Nodes = slices.DeleteFunc(slices.Clone(desired.Nodes), func(w Want) bool { return slices.Contains(names, w.Name) })
	policy.Only = names
	p, err := makePlan(desired, observed, policy, "it is taken out")
	if err != nil || !wipe {
		return p, err
	}
	m := &planner{desired: desired, observed: observed, policy: policy, plan: p}
	for _, name := range names {
		if !slices.ContainsFunc(p.Refusals, func(n plan.Note) bool { return n.Key == plan.Key("node/"+name) }) {
			m.wipe(name, m.last(name))
		}
	}
	return p, nil
}

// last is the last step of the plan that is about a node.
func (m *planner) last(name string) (last plan.Key) {
	for _, s := range m.plan.Steps {
		if s.Node == name {
			last = s.Key
		}
	}
	return last
}

// wipe plans to reset the machine of a node, if there is something to forget.
func (m *planner) wipe(name string, needs ...plan.Key) {
	switch n := m.observed.node(name); n.Reach {
	case Configured:
		s := m.step(Reset, name, "", needs...)
		s.Consent, s.Allowed = plan.ConsentDestroy, slices.Contains(m.policy.Allow, name)
	case Maintenance, Unfit:
	case Foreign, Unproven:
		m.refuse(name, "it answers as a node of another cluster"+because(n), "check its address")
	default:
		m.warn(name, "it is not reached"+because(n)+", and keeps what it has", "when it is back, reset it again before it joins")
	}
}

// ResetAll plans to end a cluster: to reset machines among which are all control
// planes, so that nothing is left of its etcd. Workers come first. As long as
// etcd can be asked it is saved before. Workers that are not named stay, and
// serve whatever cluster comes next from the same tree.
func ResetAll(desired Desired, observed Observed, policy Policy, names ...string) *Plan {
	m := &planner{desired: desired, observed: observed, policy: policy, members: observed.Safe(),
		plan: &Plan{Cluster: desired.Cluster, Steps: []Step{}, Reads: observed.digests()}}
	before := []plan.Key{m.lastSnapshot()}
	for _, role := range []string{Worker, ControlPlane} {
		for _, name := range names {
			if m.role(name) == role {
				m.wipe(name, before...)
			}
		}
		before = append(before, m.keys(Reset)...)
	}
	return m.plan
}

// EndsEtcd reports whether nothing is left of etcd without some nodes: no other
// control plane is there.
func EndsEtcd(desired Desired, observed Observed, names ...string) bool {
	for _, n := range observed.Nodes {
		if n.Role == ControlPlane && !slices.Contains(names, n.Name) {
			return false
		}
	}
	return !slices.ContainsFunc(desired.Nodes, func(w Want) bool { return w.Role == ControlPlane && !slices.Contains(names, w.Name) })
}

// lastSnapshot saves etcd, if it has a quorum that can be asked.
func (m *planner) lastSnapshot() plan.Key {
	voters, healthy := etcdsafety.Count(m.members)
	if voters == 0 || healthy < etcdsafety.Quorum(voters) {
		return ""
	}
	return m.step(Snapshot, "etcd", "before it is gone").Key
}

// keys are those of the steps of an action.
func (m *planner) keys(a Action) (keys []plan.Key) {
	for _, s := range m.plan.Steps {
		if s.Action == a {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// role is that of a node as the tree says, or else as it was seen.
func (m *planner) role(name string) string {
	for _, w := range m.desired.Nodes {
		if w.Name == name {
			return w.Role
		}
	}
	return m.observed.node(name).Role
}
