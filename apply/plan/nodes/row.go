package nodes

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// Row is what happens to some nodes, to each of them the same, one after the other or
// all at once.
type Row struct {
	Nodes   []string
	Role    string
	Actions []Action
	Changes []nodeconfig.Change
	// Why, and of a member of etcd that is removed, which.
	Reasons []string
	Allowed bool
}

// Rows are the steps with some nodes in their order, gathered by nodes: neighbours to
// which the same happens are one row. Checks of the cluster's health are in none.
func (p Plan) Rows(of func(node string) bool) (rows []Row) {
	for _, s := range p.Steps {
		if s.Action == Health || !of(s.Node) {
			continue
		}
		if last := len(rows) - 1; last >= 0 && rows[last].Nodes[0] == s.Node {
			rows[last].add(s)
			continue
		}
		r := Row{Nodes: []string{s.Node}, Role: s.Role, Allowed: true}
		r.add(s)
		rows = append(rows, r)
	}
	return merged(rows)
}

func (r *Row) add(s Step) {
	r.Actions, r.Allowed = append(r.Actions, s.Action), r.Allowed && s.Allowed
	r.Changes = append(r.Changes, s.Changes...)
	var reasons []string
	if s.Action != Snapshot {
		reasons = append(reasons, s.Reason)
	}
	if s.Member != "" {
		reasons = append(reasons, "member "+s.Member)
	}
	for _, text := range reasons {
		if text != "" && !slices.Contains(r.Reasons, text) {
			r.Reasons = append(r.Reasons, text)
		}
	}
}

func merged(rows []Row) (all []Row) {
	for _, r := range rows {
		if last := len(all) - 1; last >= 0 && all[last].like(r) {
			all[last].Nodes = append(all[last].Nodes, r.Nodes...)
			continue
		}
		all = append(all, r)
	}
	return all
}

// like reports whether the same happens to the nodes of two rows.
func (r Row) like(o Row) bool {
	return (r.Role == o.Role || !r.Disturbs()) && r.Allowed == o.Allowed && slices.Equal(r.Actions, o.Actions) &&
		slices.Equal(r.Changes, o.Changes) && slices.Equal(r.Reasons, o.Reasons)
}

// Does reports whether one of some actions happens to the nodes of the row.
func (r Row) Does(actions ...Action) bool {
	return slices.ContainsFunc(r.Actions, func(a Action) bool { return slices.Contains(actions, a) })
}

// Disturbs reports whether not all nodes of the row may go at once.
func (r Row) Disturbs() bool {
	return r.Does(Drain, Reboot, Join, Leave, RemoveMember, Reset) || r.Restarts()
}

// Made reports whether the nodes of the row are not configured yet.
func (r Row) Made() bool { return len(r.Changes) == 0 && r.Does(Configure) }

// Removed reports whether the nodes of the row leave the cluster.
func (r Row) Removed() bool {
	return r.Does(Leave, RemoveMember, DeleteNode, Reset) || r.Does(Drain) && !r.Does(Reboot)
}

// Restarts reports whether a part of the control plane, etcd or the container runtime
// restarts, and no node reboots for it.
func (r Row) Restarts() bool {
	return !r.Does(Reboot) && r.Does(Configure) &&
		slices.ContainsFunc(r.Changes, func(c nodeconfig.Change) bool { return c.Class == nodeconfig.Restart })
}
