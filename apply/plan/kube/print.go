package kube

import (
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
)

// signs of the actions.
var signs = map[Action]string{
	Create: "+", Change: "~", Replace: "±", Delete: "-", HandOver: ">", TakeOver: ">", Conflict: "!", Waits: "…",
}

// counted are the parts of a summary.
var counted = []struct {
	action Action
	text   string
}{
	{Create, "to create"}, {Change, "to change"}, {Replace, "to replace"}, {Delete, "to delete"},
	{HandOver, "to hand over"}, {TakeOver, "to take over"}, {Conflict, "in conflict"},
	{Waits, "waiting"}, {Unchanged, "unchanged"}, {FluxOwns, "of Flux"},
}

// String prints the plan for people: what changes, by stage. It is the same for
// equal plans, to the byte, and holds no secrets.
func (p Plan) String() string {
	w := &printer{}
	w.line(0, "%s, Kubernetes: %s", p.Cluster, p.Summary())
	stage := Stage("")
	for _, s := range p.Steps {
		if signs[s.Action] == "" {
			continue
		}
		if s.Stage != stage {
			stage = s.Stage
			w.line(0, "%s:", stageTitle(stage))
		}
		w.step(s)
	}
	w.notes("refused:", p.Refusals)
	w.consents(p.Steps)
	w.notes("warnings:", p.Warnings)
	return w.String()
}

func stageTitle(s Stage) string {
	if s == "" {
		return "not in Git any more"
	}
	return string(s)
}

// Summary says how much there is to do, in one line.
func (p Plan) Summary() string {
	var parts []string
	for _, c := range counted {
		if n := len(p.of(c.action)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c.text))
		}
	}
	if len(p.Refusals) > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", len(p.Refusals)))
	}
	if len(parts) == 0 {
		return "nothing is desired"
	}
	return strings.Join(parts, ", ")
}

type printer struct{ strings.Builder }

// line writes one line. Texts of others cannot move the cursor of a terminal.
func (w *printer) line(indent int, format string, args ...any) {
	text := plan.Printable(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	w.WriteString(strings.Repeat(" ", indent) + text + "\n")
}

func (w *printer) step(s Step) {
	remark := s.Reason
	if !s.Allowed {
		remark = strings.TrimPrefix(remark+"; needs consent", "; ")
	}
	if remark != "" {
		remark = "  (" + remark + ")"
	}
	w.line(2, "%s %s%s", signs[s.Action], s.Key, remark)
	if len(s.Others) > 0 {
		w.line(6, "fields of %s become those of %s", joined(s.Others), s.Owner)
	}
	for _, c := range s.Conflicts {
		for _, f := range c.Fields {
			w.line(6, "%s is of %s", f, c.Manager)
		}
	}
	for _, f := range s.Fields {
		w.line(6, "%s", f)
	}
}

// String is the field, and how it changes.
func (f Field) String() string {
	switch {
	case f.From == "":
		return f.Path + ": + " + f.To
	case f.To == "":
		return f.Path + ": - " + f.From
	}
	return f.Path + ": " + f.From + " -> " + f.To
}

func (w *printer) notes(title string, notes []plan.Note) {
	for i, n := range notes {
		if i == 0 {
			w.line(0, "%s", title)
		}
		w.line(2, "%s: %s", n.Key, n.Text)
		if n.Hint != "" {
			w.line(6, "%s", n.Hint)
		}
	}
}

func (w *printer) consents(steps []Step) {
	first := true
	for _, s := range steps {
		if s.Allowed {
			continue
		}
		if first {
			w.line(0, "consent is missing:")
			first = false
		}
		w.line(2, "--allow %s", s.Key)
	}
}
