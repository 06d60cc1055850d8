package apply

import (
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
)

// A planSection is what one stage has to do.
type planSection interface {
	// empty reports whether there is nothing to do.
	empty() bool
	// refused reports whether something must not be done.
	refused() bool
	// refusals are what must not be done, as far as sections share their reasons.
	refusals() []plan.Note
	// problems says what else keeps the section from being executed: consent that is
	// missing, or what is refused for a reason of its own.
	problems() error
	// consents are the flags that give the consent that is missing.
	consents() []string
	// remains is the error about what no run changes; nil if there is nothing.
	remains() error
	// String prints the section for people.
	String() string
	// summary says in one line how much there is to do; empty: that need not be said.
	// Said tells whether a section before it has something to say.
	summary(said bool) string
	// left is what is left of it, after a run.
	left(r *Report) []summary.Item
}

// sections are those that a plan has, in the order of their stages.
func (p *Plan) sections() (all []planSection) {
	if p.Plan != nil {
		all = append(all, cloudSection{p.Plan, p.Nodes == nil})
	}
	if p.Nodes != nil {
		all = append(all, nodeSection{p.Nodes})
	}
	if p.Kubernetes != nil {
		all = append(all, kubeSection{p.Kubernetes})
	}
	return all
}

// notExecutable says why a plan must not be executed, each reason once.
func notExecutable(p *Plan) error {
	var notes []plan.Note
	var problems diag.List
	for _, s := range p.sections() {
		notes = append(notes, s.refusals()...)
	}
	problems.AddErr(refused(notes))
	for _, s := range p.sections() {
		problems.AddErr(s.problems())
	}
	return problems.Err()
}
