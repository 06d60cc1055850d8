package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/planpage"
	"github.com/talosgen/talosgen/apply/plan/review"
)

// String prints the plan for people.
func (p *Plan) String() string { return p.review().String() }

// HTML writes the plan as a page, for those who review a change.
func (p *Plan) HTML(title string) []byte { return planpage.Write(title, p.review()) }

// Counts is how much there is to do.
func (p *Plan) Counts() review.Counts { return p.review().Counts() }

// Objects is what becomes of each object that does not stay as it is.
func (p *Plan) Objects() map[plan.Key]string { return p.review().Objects() }

// counted is a plan with its counts.
type counted struct {
	*Plan
	Counts review.Counts `json:"counts"`
}

// ForPrograms is the plan as JSON has it, with its counts.
func (p *Plan) ForPrograms() any { return counted{p, p.Counts()} }

// review is the plan as operators read it.
func (p *Plan) review() review.Review {
	r := review.Review{Cloud: p.Plan, Nodes: p.Nodes, Kubernetes: p.Kubernetes, Recreate: p.Recreate, AtOnce: p.node.MaxParallel}
	switch {
	case p.Plan != nil:
		r.Cluster = p.Plan.Cluster
		first := holding(all)(p.Plan).Changes
		r.Last = func(c cloudplan.Change) bool {
			return !slices.ContainsFunc(first, func(o cloudplan.Change) bool { return o.Key == c.Key && o.Action == c.Action })
		}
	case p.Nodes != nil:
		r.Cluster = p.Nodes.Cluster
	case p.Kubernetes != nil:
		r.Cluster = p.Kubernetes.Cluster
	}
	return r
}
