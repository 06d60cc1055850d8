package nodes

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
)

// narrowest is how wide the column with the names of nodes is at least.
const narrowest = 24

// String prints the plan for people. It is the same for equal plans, to the
// byte, and holds no secrets.
func (p Plan) String() string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		text := plan.Printable(strings.TrimRight(fmt.Sprintf(format, args...), " "))
		b.WriteString(strings.Repeat(" ", indent) + text + "\n")
	}
	line(0, "%s, nodes: %s", p.Cluster, p.Summary())
	width := narrowest
	for _, s := range p.Steps {
		width = max(width, len([]rune(s.Node)))
	}
	for i, s := range p.Steps {
		line(2, "%2d  %-14s %-*s %s", i+1, s.Action, width, s.Node, p.remarks(s))
		for _, c := range s.Changes {
			line(8, "%s", c)
		}
	}
	for i, h := range p.Unversioned() {
		if i == 0 {
			line(0, "held:")
		}
		line(2, "%s: %s  (%s: %s)", h.Node, h.Change, h.Class, h.Change.Reason)
	}
	for i, text := range p.Upgrade.Lines() {
		line(2*min(i, 1), "%s", text)
	}
	for _, part := range []struct {
		title string
		notes []plan.Note
	}{{"refused:", p.Refusals}, {"warnings:", p.Warnings}} {
		for i, n := range part.notes {
			if i == 0 {
				line(0, "%s", part.title)
			}
			line(2, "%s: %s", n.Key, n.Text)
			line(6, "%s", n.Hint)
		}
	}
	for i, node := range p.Consents() {
		if i == 0 {
			line(0, "consent is missing:")
		}
		line(2, "--allow %s", node)
	}
	return b.String()
}

// Summary says how much there is to do, in one line.
func (p Plan) Summary() string {
	count := map[Action]int{}
	for _, s := range p.Steps {
		count[s.Action]++
	}
	var parts []string
	for _, a := range []struct {
		n    int
		text string
	}{
		{count[Configure] + count[Stage], "to configure"}, {count[Reboot], "to reboot"},
		{count[DeleteNode], "to remove"}, {count[Reset], "to reset"}, {count[Bootstrap], "to bootstrap"}, {count[Record], "to record"},
		{len(p.Refusals), "refused"},
	} {
		if a.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", a.n, a.text))
		}
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
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

// JSON writes the plan for programs.
func (p Plan) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the plan of nodes: %w", err)
	}
	return append(text, '\n'), nil
}
