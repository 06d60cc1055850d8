package adopt

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// labels looks at those that objects are going to get.
type labels struct{ *mapper }

// check refuses a label that is there with another value, and one by which a firewall or
// load balancer would find a server that it does not find now.
func (m labels) check() {
	for _, n := range m.members {
		want := m.of(n)
		if m.compare("server "+n.server.Name, n.server.Labels, want) {
			m.found(n.server, want)
		}
	}
	if m.balancer != nil {
		m.compare("load balancer "+m.balancer.Name, m.balancer.Labels, map[string]string{schemas.LabelComponent: "kube-api"})
	}
	seen := map[string]bool{}
	for _, n := range m.members {
		for _, g := range m.Project.PlacementGroups {
			if g.Name == n.group && !seen[g.Name] {
				seen[g.Name] = true
				m.compare("placement group "+g.Name, g.Labels, m.of(n))
			}
		}
	}
}

// of are the labels of a node's server.
func (m labels) of(n *member) map[string]string {
	role := schemas.RoleWorker
	if n.ControlPlane {
		role = m.roleLabel()
	}
	return map[string]string{schemas.LabelRole: role, schemas.LabelPool: n.pool}
}

// compare reports whether labels can be added to those that there are.
func (m labels) compare(object string, have, want map[string]string) (fine bool) {
	want = maps.Clone(want)
	want[schemas.LabelCluster], want[schemas.LabelManagedBy] = m.Cluster, schemas.ManagedBy
	fine = true
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, there := have[key]; there && value != want[key] {
			hint := "adopt only adds labels, because firewalls and load balancers may find objects by those that are there: give the label another key where it is used, and take it away"
			if key == schemas.LabelCluster {
				hint = "adopt the nodes of one cluster at a time; if the label is a mistake, take it away"
			}
			m.refuse(object, hint, "it has the label %s=%s, and talosgen needs %s=%s", key, value, key, want[key])
			fine = false
		}
	}
	return fine
}

// found refuses what would begin or cease to find a server.
func (m labels) found(s *cloud.Server, want map[string]string) {
	after := maps.Clone(s.Labels)
	if after == nil {
		after = map[string]string{}
	}
	maps.Copy(after, want)
	after[schemas.LabelCluster], after[schemas.LabelManagedBy] = m.Cluster, schemas.ManagedBy
	for _, f := range m.Project.Firewalls {
		if slices.Contains(f.Servers, s.ID) {
			continue // whatever its selectors find, it is there
		}
		for _, selector := range f.Selectors {
			m.changed(s, after, "firewall "+f.Name, selector)
		}
	}
	for _, b := range m.Project.LoadBalancers {
		for _, t := range b.Targets {
			if t.Selector != "" {
				m.changed(s, after, "load balancer "+b.Name, t.Selector)
			}
		}
	}
}

func (m labels) changed(s *cloud.Server, after map[string]string, object, selector string) {
	before, then := selects(selector, s.Labels), selects(selector, after)
	if before != then {
		m.refuse(object, "give the servers that it is for a label of their own, let its selector ask for that, and adopt again",
			"its selector %s %s the server %s once that has the labels of the cluster", selector, map[bool]string{true: "would find", false: "would not find"}[then], s.Name)
	}
}
