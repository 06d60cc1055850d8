package kube

import (
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
)

// signs of the actions.
var signs = map[Action]string{
	Create: "+", Change: "~", Replace: "±", Delete: "-", TransferOwnership: ">", TakeOver: ">", Conflict: "!", Blocked: "…",
}

// counted are the parts of a summary.
var counted = []struct {
	action Action
	text   string
}{
	{Create, "to create"}, {Change, "to change"}, {Replace, "to replace"}, {Delete, "to delete"},
	{TransferOwnership, "to hand over"}, {TakeOver, "to take over"}, {Conflict, "in conflict"},
	{Blocked, "waiting"}, {Unchanged, "unchanged"}, {FluxOwns, "of Flux"}, {ArgoOwns, "of Argo CD"},
}

// String prints the plan for people: what changes, by stage. It is the same for
// equal plans, to the byte, and holds no secrets.
func (p Plan) String() string {
	w := &plan.Printer{}
	w.Line(0, "%s, Kubernetes: %s", p.Cluster, p.Summary())
	p.WriteSteps(w)
	w.Notes("refused", p.Refusals)
	w.Missing(p.Ways())
	w.Notes("warnings", p.Warnings)
	return w.String()
}

// WriteSteps prints what changes, by stage.
func (p Plan) WriteSteps(w *plan.Printer) {
	stage := Stage("")
	for _, s := range p.Steps {
		if signs[s.Action] == "" {
			continue
		}
		if s.Stage != stage {
			stage = s.Stage
			w.Line(0, "%s:", stageTitle(stage))
		}
		step(w, s)
	}
}

// Ways are how each consent that is missing is given.
func (p Plan) Ways() (ways []string) {
	for _, s := range p.Steps {
		if !s.Allowed {
			ways = append(ways, "--allow "+string(s.Key))
		}
	}
	return ways
}

func stageTitle(s Stage) string {
	if s == "" {
		return "not in Git any more"
	}
	return string(s)
}

// Summary says how much there is to do, in one line.
func (p Plan) Summary() string {
	var counts []plan.Count
	for _, c := range counted {
		counts = append(counts, plan.Count{N: len(p.of(c.action)), Text: c.text})
	}
	return plan.Summary("nothing is desired", len(p.Refusals), counts...)
}

// ToDo is [Plan.Summary] without what stays as it is.
func (p Plan) ToDo() string {
	var counts []plan.Count
	for _, c := range counted {
		if signs[c.action] != "" {
			counts = append(counts, plan.Count{N: len(p.of(c.action)), Text: c.text})
		}
	}
	return plan.Summary("", len(p.Refusals), counts...)
}

// step prints a step, and what it changes.
func step(w *plan.Printer, s Step) {
	remark := s.Reason
	if !s.Allowed {
		remark = strings.TrimPrefix(remark+"; needs consent", "; ")
	}
	if remark != "" {
		remark = "  (" + remark + ")"
	}
	w.Object(2, signs[s.Action], "%s%s", s.Key, remark)
	if len(s.Others) > 0 {
		w.Line(6, "fields of %s become those of %s", joined(s.Others), s.Owner)
	}
	for _, c := range s.Conflicts {
		for _, f := range c.Fields {
			w.Line(6, "%s is of %s", f, c.Manager)
		}
	}
	for _, f := range s.Fields {
		w.Line(6, "%s", f)
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
