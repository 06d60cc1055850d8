package nodes

import (
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
)

// narrowest and narrowestAction are how wide the columns with the names of nodes and with
// actions are at least.
const (
	narrowest       = 24
	narrowestAction = 14
)

// String prints the plan for people. It is the same for equal plans, to the
// byte, and holds no secrets.
func (p Plan) String() string {
	w := &plan.Printer{}
	w.Line(0, "%s, nodes: %s", p.Cluster, p.Summary())
	width, action := narrowest, narrowestAction
	for _, s := range p.Steps {
		width, action = max(width, len([]rune(s.Node))), max(action, len(s.Action.Text()))
	}
	for i, s := range p.Steps {
		w.Line(2, "%2d  %-*s %-*s %s", i+1, action, s.Action.Text(), width, s.Node, p.remarks(s))
		for _, c := range s.Changes {
			w.Line(8, "%s", c)
		}
	}
	for i, text := range p.HeldLines() {
		if i == 0 {
			w.Line(0, "held:")
		}
		w.Line(2, "%s", text)
	}
	for i, text := range p.Upgrade.Lines() {
		w.Line(2*min(i, 1), "%s", text)
	}
	w.Notes("refused", p.Refusals)
	w.Notes("warnings", p.Warnings)
	var ways []string
	for _, node := range p.Consents() {
		ways = append(ways, "--allow "+node)
	}
	w.Missing(ways)
	return w.String()
}

// HeldLines print what nodes keep though Git has something else, but for versions: nodes
// that keep the same are on one line.
func (p Plan) HeldLines() (lines []string) {
	var notes []plan.Note
	for _, h := range p.Unversioned() {
		notes = append(notes, plan.Note{Key: plan.Key(h.Node), Text: fmt.Sprintf("%s  (%s: %s)", h.Change, h.Class, h.Reason)})
	}
	for _, n := range plan.Merged(notes) {
		lines = append(lines, fmt.Sprintf("%s: %s", n.Key, n.Text))
	}
	return lines
}

// Summary says how much there is to do, in one line.
func (p Plan) Summary() string {
	count := map[Action]int{}
	for _, s := range p.Steps {
		count[s.Action]++
	}
	return plan.Summary("nothing to do", len(p.Refusals),
		plan.Count{N: count[Configure] + count[Stage], Text: "to configure"}, plan.Count{N: count[Reboot], Text: "to reboot"},
		plan.Count{N: count[DeleteNode], Text: "to remove"}, plan.Count{N: count[Reset], Text: "to reset"},
		plan.Count{N: count[Bootstrap], Text: "to bootstrap"}, plan.Count{N: count[Record], Text: "to record"})
}

// remarks say why, and after which steps.
func (p Plan) remarks(s Step) string {
	var texts []string
	for _, k := range s.Needs {
		for i, other := range p.Steps {
			if other.Key == k {
				texts = append(texts, fmt.Sprintf("after %d", i+1))
			}
		}
	}
	if s.Member != "" {
		texts = append(texts, "member "+s.Member)
	}
	if s.Reason != "" {
		texts = append(texts, s.Reason)
	}
	return strings.Join(texts, ", ")
}
