package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Member is a member of etcd, as it and its peers say.
type Member struct {
	ID   string `json:"id"`
	Node string `json:"node"`
	// It has no vote yet.
	Learner bool `json:"learner"`
	Leader  bool `json:"leader"`
	// Why it could not be asked: then nothing below is known.
	Problem string `json:"problem,omitempty"`
	// The size of its database in bytes.
	Size     int64  `json:"size"`
	RaftTerm uint64 `json:"raftTerm"`
	// How far its log goes, and how far it has caught up with it.
	RaftIndex uint64   `json:"raftIndex"`
	Applied   uint64   `json:"raftAppliedIndex"`
	Alarms    []string `json:"alarms,omitempty"`
}

// MemberList is etcd, member by member.
type MemberList struct {
	Members []Member `json:"members"`
	// Control planes that have no member, and why.
	Without []Without `json:"without,omitempty"`
}

// Without is a control plane that etcd does not have as a member, or that cannot
// be asked.
type Without struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// ListMembers lists all members that any control plane knows of.
func ListMembers(f Facts) MemberList {
	list := MemberList{Members: []Member{}}
	at := map[node.MemberID]int{}
	for _, n := range f.Nodes {
		for _, m := range n.Etcd.Members {
			if _, known := at[m.ID]; !known {
				at[m.ID] = len(list.Members)
				list.Members = append(list.Members, Member{
					ID: m.ID.String(), Node: cmp.Or(plan.Printable(m.Hostname), "-"), Learner: m.Learner, Problem: "no control plane answers for it"})
			}
		}
	}
	for _, n := range f.Nodes {
		own, known := at[n.Etcd.Status.Member]
		switch err := cmp.Or(n.Err, n.Etcd.Err); {
		case !n.ControlPlane:
		case err != nil:
			list.unresponsive(n.Name, plan.Printable(oneLine(err)))
		case !known:
			list.unresponsive(n.Name, "its etcd is no member of any list")
		default:
			list.Members[own].say(n)
		}
	}
	sorting.By(list.Members, func(a, b Member) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID)) })
	return list
}

// Complete reports whether each member, and each control plane, has answered for itself.
func (l MemberList) Complete() bool {
	return len(l.Without) == 0 && !slices.ContainsFunc(l.Members, func(m Member) bool { return m.Problem != "" })
}

// unresponsive notes a control plane that does not speak for a member: it may have one
// by its name.
func (l *MemberList) unresponsive(name, reason string) {
	i := slices.IndexFunc(l.Members, func(m Member) bool { return m.Node == name })
	if i < 0 {
		l.Without = append(l.Without, Without{name, reason})
		return
	}
	l.Members[i].Problem = reason
}

// say takes in what a member says of itself.
func (m *Member) say(n Node) {
	s := n.Etcd.Status
	m.Node, m.Problem = n.Name, ""
	m.Learner, m.Leader = s.Learner, s.Leader == s.Member
	m.Size, m.RaftTerm, m.RaftIndex, m.Applied = s.Size, s.RaftTerm, s.RaftIndex, s.Applied
	for _, e := range s.Errors {
		m.Alarms = append(m.Alarms, plan.Printable(e))
	}
}

// String is a table.
func (l MemberList) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tMEMBER\tROLE\tSIZE\tTERM\tINDEX\tAPPLIED\tREMARKS")
	for _, m := range l.Members {
		if m.Problem != "" {
			fmt.Fprintf(w, "%s\t%s\t%s\t-\t-\t-\t-\t%s\n", m.Node, m.ID, m.role(), m.Problem)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", m.Node, m.ID, m.role(), megabytes(m.Size), m.RaftTerm, m.RaftIndex, m.Applied, strings.Join(m.Alarms, ", "))
	}
	for _, n := range l.Without {
		fmt.Fprintf(w, "%s\t-\t-\t-\t-\t-\t-\t%s\n", n.Node, n.Reason)
	}
	_ = w.Flush() // memory takes everything
	return trailing.ReplaceAllString(b.String(), "\n")
}

func (m Member) role() string {
	switch {
	case m.Learner:
		return "learner"
	case m.Leader:
		return "leader"
	case m.Problem != "":
		return "?"
	}
	return "follower"
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
