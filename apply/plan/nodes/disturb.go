package nodes

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/etcdsafety"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
)

// disturbing plans restarts and reboots: control planes one after the other,
// then workers.
func (m *planner) disturbing(want Want, node Node) error {
	d, err := m.compare(want, node)
	if err != nil {
		return nil // said already
	}
	class := d.Class()
	reboot := class == nodeconfig.Reboot && m.policy.Mode == Auto
	if m.policy.Mode == Staged || !reboot && class != nodeconfig.Restart {
		m.uncordon(want, node)
		return nil
	}
	if waits := (rotating{m}).waits(want, node); waits != nil || reboot && !m.mayMove(want.Name) {
		return nil
	}
	last := &m.controlPlanes
	if want.Role == ControlPlane {
		if !m.mayStop(want.Name) {
			return nil
		}
		m.health()
	} else {
		m.health()
		last = &m.workers[m.next%len(m.workers)]
		m.next++
		if *last == "" {
			*last = m.controlPlanes
		}
	}
	before := *last
	if forgetsKey(want, node) {
		before = rotating{m}.rewriteSecrets(before)
	}
	if !reboot {
		before = m.configure(Configure, want, d, before)
	} else {
		before = m.reboot(want, node, d, before)
	}
	*last = m.step(Health, want.Name, "", before).Key
	return nil
}

// uncordon ends what a run has left that was interrupted after it drained a node.
func (m *planner) uncordon(want Want, node Node) {
	if node.Drained && node.Reach == Configured && node.Stage == StageRunning {
		m.step(Uncordon, want.Name, "a run that was interrupted has drained it")
	}
}

func (m *planner) reboot(want Want, node Node, d *nodeconfig.Difference, before plan.Key) plan.Key {
	if node.Registered {
		before = m.step(Drain, want.Name, "", before).Key
	}
	before = m.configure(Stage, want, d, before)
	before = m.step(Reboot, want.Name, "", before).Key
	if node.Registered {
		before = m.step(Uncordon, want.Name, "", before).Key
	}
	return before
}

// mayStop refuses to take a control plane away that etcd cannot be without.
func (m *planner) mayStop(name string) bool {
	if !m.observed.Known {
		m.refuse(name, "its change disturbs etcd, whose state is unknown", "bring a control plane back that can be asked")
		return false
	}
	if reason := etcdsafety.CanStop(m.members, name); reason != "" {
		m.refuse(name, "it must not stop: "+reason, "bring the other members back first; talosgen etcd status shows them")
		return false
	}
	return true
}

// mayMove refuses to take a node away whose pods cannot be asked to leave.
func (m *planner) mayMove(name string) bool {
	if m.observed.Silent != "" {
		m.refuse(name, "its pods cannot be moved away: the Kubernetes API does not answer ("+m.observed.Silent+")", "bring the API back first; talosgen health shows what is wrong")
	}
	return m.observed.Silent == ""
}

// removals plans the end of nodes that the tree does not have: dead ones first,
// so that they do not count any more, workers last.
func (m *planner) removals() {
	var gone []Node
	for _, n := range m.observed.Nodes {
		wanted := slices.ContainsFunc(m.desired.Nodes, func(w Want) bool { return w.Name == n.Name })
		if !wanted && m.policy.concerns(n.Name) {
			gone = append(gone, n)
		}
	}
	rank := func(n Node) int {
		switch {
		case n.Role != ControlPlane:
			return 2
		case n.Reach != Configured:
			return 0
		}
		return 1
	}
	sorting.By(gone, func(a, b Node) int {
		if rank(a) != rank(b) {
			return rank(a) - rank(b)
		}
		return natural.Compare(a.Name, b.Name)
	})
	for _, n := range gone {
		if !m.mayMove(n.Name) {
			continue
		}
		first := len(m.plan.Steps)
		if n.Role == ControlPlane {
			m.removeControlPlane(n)
		} else {
			m.removeWorker(n)
		}
		for i := first; i < len(m.plan.Steps); i++ {
			s := &m.plan.Steps[i]
			if s.Action != Health {
				s.Consent, s.Allowed = plan.ConsentDestroy, slices.Contains(m.policy.Allow, n.Name)
			}
		}
	}
}

func (m *planner) removeWorker(n Node) {
	var before plan.Key
	if n.Reach == Configured && n.Registered {
		before = m.drainForGood(n.Name, m.workers...)
	}
	if n.Registered {
		m.step(DeleteNode, n.Name, m.gone, before)
	}
}

func (m *planner) drainForGood(node string, needs ...plan.Key) plan.Key {
	s := m.step(Drain, node, m.gone, needs...)
	s.ForGood = true
	return s.Key
}

// removeControlPlane takes a control plane out of etcd, and then out of Kubernetes. It
// fails closed: what is not known is not done.
func (m *planner) removeControlPlane(n Node) {
	member := slices.IndexFunc(m.observed.Members, func(e Member) bool { return e.Node == n.Name })
	dead := n.Reach != Configured
	switch reason := etcdsafety.CanRemove(m.members, n.Name); {
	case !m.observed.Known:
		m.refuse(n.Name, "it must not be removed: the state of etcd is unknown", "bring a control plane back that can be asked")
		return
	case n.Reach == Foreign:
		m.refuse(n.Name, "it answers as a node of another cluster"+because(n), "check its address")
		return
	case reason != "":
		hint := "add a control plane or bring one back first; destroy removes a whole cluster"
		if voters, healthy := etcdsafety.Count(m.members); healthy < voters {
			hint = "members that do not answer count as unhealthy, and talosgen etcd status shows them: if they were away for a moment only, run the command again; else " + hint
		}
		m.refuse(n.Name, "it must not be removed: "+reason, hint)
		return
	case dead && member >= 0 && m.observed.Members[member].Healthy:
		m.refuse(n.Name, "it is not reached"+because(n)+", but its etcd lives", "make it reachable, or turn it off")
		return
	}
	if member < 0 && !n.Registered {
		return // it has left already
	}
	before := m.health()
	if member >= 0 {
		before = m.step(Snapshot, n.Name, "before it leaves etcd", before).Key
	}
	if n.Registered && !dead {
		before = m.drainForGood(n.Name, before)
	}
	if member >= 0 {
		before = m.leave(n, m.observed.Members[member].ID, dead, before)
	}
	if n.Registered {
		before = m.step(DeleteNode, n.Name, m.gone, before).Key
	}
	m.controlPlanes = before
	m.members = etcdsafety.Without(m.members, n.Name)
}

func (m *planner) leave(n Node, id string, dead bool, before plan.Key) plan.Key {
	if dead {
		s := m.step(RemoveMember, n.Name, "it is dead"+because(n), before)
		s.Member, before = id, s.Key
	} else {
		before = m.step(TransferLeadership, n.Name, "", before).Key
		before = m.step(Leave, n.Name, "", before).Key
	}
	return m.step(Verify, n.Name, "", before).Key
}
