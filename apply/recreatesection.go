package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/recreate"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
)

// recreateSection is which nodes are made anew.
type recreateSection struct{ *recreate.Plan }

func (r recreateSection) empty() bool           { return len(r.Due()) == 0 }
func (r recreateSection) refused() bool         { return len(r.Refusals) > 0 }
func (r recreateSection) refusals() []plan.Note { return r.Refusals }
func (r recreateSection) problems() error       { return nil }
func (r recreateSection) consents() []string    { return nil }

// remains is the error that servers are not what Git has, with the exit code
// [diag.Differences]: nobody agreed that their nodes are made anew.
func (r recreateSection) remains() error {
	var notes []plan.Note
	for _, n := range r.Waiting() {
		if slices.ContainsFunc(r.Nodes, func(o recreate.Node) bool { return plan.Key("node/"+o.Name) == n.Key && o.Server() }) {
			notes = append(notes, n)
		}
	}
	var problems diag.List
	for _, n := range plan.Merged(notes) {
		problems.Add(diag.On(string(n.Key), "it waits for consent to be recreated: %s", n.Text).WithHint("%s", n.Hint).WithCode(diag.Differences))
	}
	return problems.Err()
}

func (r recreateSection) left(report *Report) (items []summary.Item) {
	for _, n := range r.Due() {
		if !slices.Contains(report.recreated, n.Name) {
			items = append(items, summary.Item{Stage: summary.Nodes, Action: "recreate", Object: n.Name})
		}
	}
	return items
}

// Waits is the error that nodes wait for consent to be made anew; nil if none does, or
// their configuration alone asks for it.
func (p *Plan) Waits() error {
	if p.Recreate == nil {
		return nil
	}
	return recreateSection{p.Recreate}.remains()
}
