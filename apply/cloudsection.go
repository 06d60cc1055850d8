package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
)

// cloudSection is what has to be done at Hetzner Cloud.
type cloudSection struct{ *cloudplan.Plan }

func (c cloudSection) empty() bool           { return len(c.Changes) == 0 }
func (c cloudSection) refused() bool         { return len(c.Refusals) > 0 }
func (c cloudSection) refusals() []plan.Note { return c.Refusals }
func (c cloudSection) remains() error        { return nil }

func (c cloudSection) problems() error {
	var problems diag.List
	for _, ch := range c.Changes {
		if !ch.Allowed {
			problems.Add(diag.On(string(ch.Key), "to %s it needs consent: %s", ch.Action, ch.Why()).WithCode(diag.Usage))
		}
	}
	return problems.Err()
}

func (c cloudSection) consents() (flags []string) {
	for _, ch := range c.Changes {
		switch {
		case ch.Allowed:
		case ch.Consent == plan.ConsentUnlock:
			flags = append(flags, "--yes-destroy", c.Cluster)
		default:
			flags = append(flags, "--allow", string(ch.Key))
		}
	}
	return flags
}

func (c cloudSection) left(r *Report) []summary.Item { return changeItems(r.without(c.Plan).Changes) }

// without is a plan without the changes that were made.
func (r *Report) without(p *cloudplan.Plan) *cloudplan.Plan {
	if p == nil {
		return nil
	}
	left := *p
	left.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c cloudplan.Change) bool {
		return slices.ContainsFunc(r.Done, func(d cloudplan.Change) bool { return d.Key == c.Key && d.Action == c.Action })
	})
	return &left
}

// changeItems are changes of the infrastructure as reports list them.
func changeItems(changes []cloudplan.Change) (all []summary.Item) {
	for _, c := range changes {
		stage := summary.Infrastructure
		if c.Kind == cloudplan.KindImage {
			stage = summary.Images
		}
		all = append(all, summary.Item{Stage: stage, Action: string(c.Action), Object: string(c.Key), ID: c.ID})
	}
	return all
}
