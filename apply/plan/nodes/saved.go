package nodes

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
)

// Saved is a plan that was kept: what was reviewed, and what was agreed to. It
// holds no secrets.
type Saved struct {
	// What stands for the files that the plan was made from.
	Desired string `json:"desired"`
	Policy  Policy `json:"policy"`
	Plan    *Plan  `json:"plan"`
}

// Stale says why a plan that was made again, from what is there now, is not the
// one that was kept; nothing if it is.
func (s Saved) Stale(desired string, now *Plan) (changed []string) {
	if s.Desired != desired {
		return []string{"the configuration of a node has changed in Git"}
	}
	changed = plan.Changed(plan.All(s.Plan.Reads, now.Reads))
	if len(changed) == 0 && !slices.EqualFunc(s.Plan.Steps, now.Steps, func(a, b Step) bool { return a.Key == b.Key }) {
		changed = append(changed, "something else would happen to nodes now")
	}
	return changed
}

// And adds the consent of another policy.
func (p Policy) And(more Policy) Policy {
	p.Allow = slices.Concat(p.Allow, more.Allow)
	p.Trust = slices.Concat(p.Trust, more.Trust)
	if more.Mode != "" {
		p.Mode = more.Mode
	}
	p.MaxParallel = max(p.MaxParallel, more.MaxParallel)
	p.Only = slices.Concat(p.Only, more.Only)
	return p
}
