package adopt

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// match finds the server of each node by the address at which the node answers: names
// are the same in many projects.
func (m *mapper) match() {
	taken := map[int64]string{}
	for _, n := range m.Nodes {
		s := m.serverOf(n)
		switch {
		case s == nil:
			continue
		case s.Name != n.Name:
			m.refuse("server "+s.Name, fmt.Sprintf("rename the server to %s in Hetzner's console: nothing restarts, and the cloud controller finds nodes by the names of their servers", n.Name),
				"it runs the node %s: a server and its node have one name here, and adopt renames neither", n.Name)
		case taken[s.ID] != "":
			m.refuse("server "+s.Name, "name each node once", "it runs the node %s, and %s", n.Name, taken[s.ID])
		}
		taken[s.ID] = n.Name
		m.members = append(m.members, &member{Node: n, server: s, group: groupOf(&m.Project, s)})
	}
	sorting.By(m.members, func(a, b *member) int { return natural.Compare(a.Name, b.Name) })
}

// serverOf is the server at which a node answers.
func (m *mapper) serverOf(n Node) *cloud.Server {
	var found []*cloud.Server
	ip, _ := netip.ParseAddr(n.Address)
	for i := range m.Project.Servers {
		s := &m.Project.Servers[i]
		if publicly(s, ip) {
			return s
		}
		if privately(s, ip) {
			found = append(found, s)
		}
	}
	if i := slices.IndexFunc(found, func(s *cloud.Server) bool { return s.Name == n.Name }); i >= 0 {
		return found[i]
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		m.refuse("node "+n.Name, "is HCLOUD_TOKEN the token of another project? --nodes takes the addresses that the servers have there, public or private",
			"no server of this project has its address, %s", n.Address)
	default:
		m.refuse("node "+n.Name, "name it by its public address: --nodes", "several servers of this project have its address, %s", n.Address)
	}
	return nil
}

// publicly reports whether a server has a public address.
func publicly(s *cloud.Server, ip netip.Addr) bool {
	if own, err := netip.ParseAddr(s.PublicIPv4.IP); err == nil && own == ip {
		return true
	}
	own, err := netip.ParsePrefix(s.PublicIPv6.IP)
	return err == nil && own.Contains(ip)
}

// privately reports whether a server has an address in one of its networks.
func privately(s *cloud.Server, ip netip.Addr) bool {
	return slices.ContainsFunc(s.PrivateNets, func(n cloud.PrivateNet) bool {
		own, err := netip.ParseAddr(n.IP)
		return err == nil && own == ip
	})
}

func groupOf(o *cloud.Observed, s *cloud.Server) string {
	for _, g := range o.PlacementGroups {
		if g.ID == s.PlacementGroup {
			return g.Name
		}
	}
	return ""
}

// strangers are servers beside those of the nodes.
type strangers struct{ *mapper }

// check refuses servers that look as if they were the cluster's: each node has to be
// adopted, or apply would take it for somebody else's.
func (m strangers) check() {
	for i := range m.Project.Servers {
		s := &m.Project.Servers[i]
		if m.matched(s.ID) != nil || s.Labels[schemas.LabelCluster] != m.Cluster {
			continue
		}
		role := schemas.RoleOf(s.Labels)
		switch {
		case s.Labels[schemas.LabelNodeGroup] != "":
			m.note(fmt.Sprintf("server %s is the autoscaler's, and is left to it", s.Name))
		case s.Labels[schemas.LabelManagedBy] == schemas.ManagedBy:
			m.refuse("server "+s.Name, "a project has one cluster of a name: adopt the other one with a token of its own project, or use the environment that made this server",
				"talosgen made it for a cluster that is named %s too, and it is none of the nodes that were named", m.Cluster)
		case role == schemas.RoleControlPlane || role == schemas.RoleWorker:
			m.refuse("server "+s.Name, "name all nodes of the cluster with --nodes; if it is none of them, take its label cluster away",
				"its labels say that it is a %s of the cluster %s, and it is none of the nodes that were named", s.Labels[schemas.LabelRole], m.Cluster)
		default:
			m.note(fmt.Sprintf("server %s has the label cluster=%s, and is left as it is: it is no node", s.Name, m.Cluster))
		}
	}
}
