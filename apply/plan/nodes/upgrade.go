package nodes

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/internal/diag"
)

// Upgrade is what Git asks for, and apply does not do: it keeps the versions that
// run.
type Upgrade struct {
	Talos      *Move `json:"talos,omitempty"`
	Kubernetes *Move `json:"kubernetes,omitempty"`
	// Of etcd, which comes with Talos; it concerns control planes only.
	Etcd *Move `json:"etcd,omitempty"`
	// The hops, in their order; none if there is no way, for Blocked says why.
	Hops    []upgradepath.Hop `json:"hops,omitempty"`
	Blocked string            `json:"blocked,omitempty"`
	Hint    string            `json:"hint,omitempty"`
}

// Move is from the oldest version that nodes run to the one that Git has. Versions
// have no v.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
	// How many nodes do not run Git's version yet, and how many of them are control
	// planes.
	Nodes         int `json:"nodes"`
	ControlPlanes int `json:"controlPlanes"`
	// The oldest version that these control planes run; empty if there are none.
	Oldest string `json:"oldestControlPlane,omitempty"`
}

// pending compares versions; nil if there is nothing to upgrade. Of nodes that are
// not reached nobody knows what they run.
func pending(desired Desired, observed Observed) *Upgrade {
	var now, git upgradepath.State
	u := &Upgrade{}
	for _, want := range desired.Nodes {
		node := observed.node(want.Name)
		if node.Reach != Configured && node.Reach != Maintenance || node.Role != want.Role {
			continue
		}
		// A new node boots Git's Talos, and gets the Kubernetes that runs.
		runs := upgradepath.State{Talos: want.Config.Talos(), Kubernetes: observed.Running.Kubernetes}
		if node.Config != nil {
			runs = upgradepath.State{Talos: cmp.Or(node.Talos, node.Config.Talos()), Kubernetes: node.Config.Kubernetes()}
		}
		u.Talos = u.Talos.with(node, runs.Talos, want.Config.Talos())
		u.Kubernetes = u.Kubernetes.with(node, runs.Kubernetes, want.Config.Kubernetes())
		now.Talos, now.Kubernetes = upgradepath.Older(now.Talos, runs.Talos), upgradepath.Older(now.Kubernetes, runs.Kubernetes)
		git.Talos, git.Kubernetes = upgradepath.Newest(git.Talos, want.Config.Talos()), upgradepath.Newest(git.Kubernetes, want.Config.Kubernetes())
	}
	if u.Talos == nil && u.Kubernetes == nil {
		return nil
	}
	u.path(now, git)
	return u
}

// with adds a node that runs a version, and is to run another.
func (m *Move) with(node Node, runs, want string) *Move {
	runs, want = strings.TrimPrefix(runs, "v"), strings.TrimPrefix(want, "v")
	if runs == "" || want == "" || runs == want {
		return m
	}
	if m == nil {
		m = &Move{}
	}
	m.From, m.To = upgradepath.Older(m.From, runs), upgradepath.Newest(m.To, want)
	m.Nodes++
	if node.Role == ControlPlane {
		m.ControlPlanes++
		m.Oldest = upgradepath.Older(m.Oldest, runs)
	}
	return m
}

// path finds the way, and what it does to etcd. Without all of the versions there is
// none to find: an image may have no tag.
func (u *Upgrade) path(now, git upgradepath.State) {
	if now.Talos == "" || now.Kubernetes == "" || git.Talos == "" || git.Kubernetes == "" {
		return
	}
	hops, err := upgradepath.Path(now, git)
	var list diag.List
	list.AddErr(err)
	for _, p := range list {
		u.Blocked, u.Hint = p.Message, p.Hint
		return
	}
	u.Hops = hops
	from, to := upgradepath.Etcd(now.Talos), upgradepath.Etcd(git.Talos)
	if u.Talos != nil && u.Talos.ControlPlanes > 0 && from != "" && to != "" && from != to {
		u.Etcd = &Move{From: from, To: to, Nodes: u.Talos.ControlPlanes, ControlPlanes: u.Talos.ControlPlanes}
	}
}

// noReturn reports whether etcd gets another minor on the way.
func (u *Upgrade) noReturn() bool {
	for _, h := range u.Hops {
		if h.Etcd != "" {
			return true
		}
	}
	return false
}

// Moves say what is to be upgraded, one text each: talos v1.13.9 -> v1.14.1 on 7
// nodes. None for nil.
func (u *Upgrade) Moves() (texts []string) {
	for _, row := range u.rows() {
		if row.move.Nodes > 0 && row.name != etcd {
			texts = append(texts, row.name+" "+row.versions()+" on "+row.move.count())
		}
	}
	return texts
}

// etcd is the name of the row of etcd.
const etcd = "etcd"

// row is a line of the upgrade.
type row struct {
	name   string
	letter string // before versions
	move   Move
	remark string
}

func (r row) versions() string { return r.letter + r.move.From + " -> " + r.letter + r.move.To }

// rows are what moves.
func (u *Upgrade) rows() (rows []row) {
	if u == nil {
		return nil
	}
	if m := u.Talos; m != nil {
		rows = append(rows, row{"talos", "v", *m, m.count()})
	}
	if m := u.Kubernetes; m != nil {
		rows = append(rows, row{"kubernetes", "", *m, m.count()})
	}
	if m := u.Etcd; m != nil && u.noReturn() {
		rows = append(rows, row{etcd, "", *m, "comes with Talos; no way back when the last control plane has it"})
	} else if m != nil {
		rows = append(rows, row{etcd, "", *m, "comes with Talos"})
	}
	return rows
}

// Lines print the upgrade: a title, and a line for each version. None for nil.
func (u *Upgrade) Lines() []string {
	if u == nil {
		return nil
	}
	lines := []string{"upgrade pending:"}
	for _, r := range u.rows() {
		lines = append(lines, fmt.Sprintf("%-11s %-20s %s", r.name, r.versions(), r.remark))
	}
	if u.Blocked != "" {
		return append(lines, "blocked: "+u.Blocked, "  "+u.Hint)
	}
	var hops []string
	for _, h := range u.Hops {
		hops = append(hops, h.String())
	}
	if len(hops) > 0 {
		lines = append(lines, "in this order: "+strings.Join(hops, ", "))
	}
	return append(lines, UpgradeHint)
}

// UpgradeHint says what upgrades nodes.
const UpgradeHint = "apply keeps the versions that run; to upgrade: talosgen upgrade (docs/how-to/upgrade.md)"

// count says how many nodes.
func (m *Move) count() string {
	text := fmt.Sprintf("%d nodes", m.Nodes)
	if m.Nodes == 1 {
		text = "1 node"
	}
	switch m.ControlPlanes {
	case 0:
		return text
	case 1:
		return text + " (1 control plane)"
	default:
		return fmt.Sprintf("%s (%d control planes)", text, m.ControlPlanes)
	}
}

// moves reports whether the upgrade tells of the versions of a program; not for nil.
func (u *Upgrade) moves(program string) bool {
	return u != nil && (program == nodeconfig.Talos && u.Talos != nil || program == nodeconfig.Kubernetes && u.Kubernetes != nil)
}

// Unversioned is what is held and is no version that [Plan.Upgrade] tells of.
func (p Plan) Unversioned() (held []Held) {
	for _, h := range p.Held {
		if !p.Upgrade.moves(h.Version) {
			held = append(held, h)
		}
	}
	return held
}
