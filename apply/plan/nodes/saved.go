package nodes

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
)

// Saved is the section of nodes in the file of a saved plan. Desired stands for the
// files that the plan was made from.
type Saved struct{ plan.Section[Policy, Plan] }

// Save is the section in a file, of a plan that was made from files and by a policy.
func (p *Plan) Save(desired string, policy Policy) *Saved {
	return &Saved{plan.Section[Policy, Plan]{Desired: desired, Policy: policy, Plan: p}}
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
	p.Recreate = slices.Concat(p.Recreate, more.Recreate)
	if more.Mode != "" {
		p.Mode = more.Mode
	}
	p.MaxParallel = max(p.MaxParallel, more.MaxParallel)
	p.Only = slices.Concat(p.Only, more.Only)
	return p
}
