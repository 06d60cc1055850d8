package health

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// etcd checks that all members that can be asked say the same, and that enough
// of them live.
func (c *checker) etcd() {
	var asked []Node
	for _, n := range c.facts.Nodes {
		if n.ControlPlane && n.Err == nil && n.Etcd.Err == nil {
			asked = append(asked, n)
		}
	}
	if len(asked) == 0 {
		c.report.add(Quorum, "", Failed, "no control plane can be asked%s", c.why())
		return
	}
	members := asked[0].Etcd.Members
	c.quorum(members, asked)
	c.agree(asked)
	c.members(members, asked)
	c.leader(asked)
	c.alarms(asked)
}

// why is what the first control plane says that has no etcd to ask.
func (c *checker) why() string {
	for _, n := range c.facts.Nodes {
		if n.ControlPlane && n.Err == nil && n.Etcd.Err != nil {
			return ": " + n.Name + ": " + oneLine(n.Etcd.Err)
		}
	}
	return ""
}

// quorum counts those members as healthy that say themselves that they have a
// leader.
func (c *checker) quorum(members []node.Member, asked []Node) {
	var counted []etcdsafety.Member
	for _, m := range members {
		healthy := slices.ContainsFunc(asked, func(n Node) bool { return n.Etcd.Status.Member == m.ID && n.Etcd.Status.Leader != 0 })
		counted = append(counted, etcdsafety.Member{Node: m.Hostname, Voter: !m.Learner, Healthy: healthy})
	}
	voters, healthy := etcdsafety.Count(counted)
	state := OK
	if healthy < etcdsafety.Quorum(voters) {
		state = Failed
	}
	c.report.add(Quorum, "", state, "%d of %d members are healthy, %d are needed", healthy, voters, etcdsafety.Quorum(voters))
}

// agree checks that all control planes can be asked, and list the same members.
// In a moment of change they may not; it passes.
func (c *checker) agree(asked []Node) {
	for _, n := range c.facts.Nodes {
		if n.ControlPlane && n.Err == nil && n.Etcd.Err != nil && !c.spared(n.Name) {
			c.report.add(Members, n.Name, Failed, "it cannot be asked: %s", oneLine(n.Etcd.Err))
		}
	}
	first := memberList(asked[0].Etcd.Members)
	for _, n := range asked[1:] {
		if list := memberList(n.Etcd.Members); list != first {
			c.report.add(Members, "", Failed, "%s has %s, and %s has %s", asked[0].Name, first, n.Name, list)
			return
		}
	}
	c.report.add(Members, "", OK, "%s", first)
}

func memberList(members []node.Member) string {
	var names []string
	for _, m := range members {
		name := m.Hostname
		if name == "" {
			name = m.ID.String()
		}
		if m.Learner {
			name += " (learner)"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// members checks that each control plane has a member that votes, and that there
// is no member besides.
func (c *checker) members(members []node.Member, asked []Node) {
	var wrong []string
	for _, n := range c.facts.Nodes {
		if !n.ControlPlane || c.spared(n.Name) {
			continue
		}
		i := slices.IndexFunc(members, func(m node.Member) bool { return isOf(m, n, asked) })
		switch {
		case i < 0:
			wrong = append(wrong, n.Name+" has no member")
		case members[i].Learner:
			wrong = append(wrong, n.Name+" has no vote yet")
		}
	}
	for _, m := range members {
		known := slices.ContainsFunc(c.facts.Nodes, func(n Node) bool { return n.ControlPlane && isOf(m, n, asked) })
		if !known && !c.spared(m.Hostname) {
			wrong = append(wrong, fmt.Sprintf("member %s (%s) belongs to no control plane", m.ID, m.Hostname))
		}
	}
	if len(wrong) > 0 {
		c.report.add(ControlPlanes, "", Failed, "%s", strings.Join(wrong, ", "))
		return
	}
	c.report.add(ControlPlanes, "", OK, "")
}

// isOf tells a member by its id, which its own node says, or else by the name
// that it has in etcd.
func isOf(m node.Member, n Node, asked []Node) bool {
	if i := slices.IndexFunc(asked, func(a Node) bool { return a.Name == n.Name }); i >= 0 {
		return asked[i].Etcd.Status.Member == m.ID
	}
	return m.Hostname == n.Name
}

// leader checks that all see the same leader in the same term.
func (c *checker) leader(asked []Node) {
	first := asked[0].Etcd.Status
	for _, n := range asked {
		switch s := n.Etcd.Status; {
		case s.Leader == 0:
			c.report.add(Leader, "", Failed, "%s sees none", n.Name)
			return
		case s.Leader != first.Leader:
			c.report.add(Leader, "", Failed, "%s sees %s, and %s sees %s", asked[0].Name, first.Leader, n.Name, s.Leader)
			return
		case s.RaftTerm != first.RaftTerm:
			c.report.add(Leader, "", Failed, "%s is in term %d, and %s in term %d", asked[0].Name, first.RaftTerm, n.Name, s.RaftTerm)
			return
		}
	}
	name := first.Leader.String()
	for _, n := range asked {
		if n.Etcd.Status.Member == first.Leader {
			name = n.Name
		}
	}
	c.report.add(Leader, "", OK, "%s", name)
}

// alarms are what etcd itself complains of, such as that it has no space.
func (c *checker) alarms(asked []Node) {
	good := true
	for _, n := range asked {
		if errors := n.Etcd.Status.Errors; len(errors) > 0 {
			good = false
			c.report.add(Alarms, n.Name, Failed, "%s", strings.Join(errors, ", "))
		}
	}
	if good {
		c.report.add(Alarms, "", OK, "none")
	}
}
