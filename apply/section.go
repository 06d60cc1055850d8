package apply

import (
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/summary"
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
	// left is what is left of it, after a run.
	left(r *Report) []summary.Item
}
