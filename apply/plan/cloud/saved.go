package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Saved is a plan in a file: what was reviewed. It holds digests of what it was
// made from, and no secrets.
type Saved struct {
	APIVersion string `json:"apiVersion"`
	// Desired is the digest of infrastructure.yaml.
	plan.Section[plan.Consent, Plan]
}

// Saved is the plan as it is kept in a file.
func (p *Plan) Saved() Saved {
	return Saved{plan.SavedVersion, plan.Section[plan.Consent, Plan]{Desired: plan.DigestOf(p.inGit), Policy: p.policy, Plan: p}}
}

// Check refuses a file that holds no plan, or one of another version. Name is
// that of the file, for errors.
func (s *Saved) Check(name string) error {
	pos := diag.Pos{File: name}
	switch {
	case s.APIVersion != plan.SavedVersion:
		return diag.New(pos, "the plan has the version %q, this talosgen reads %s", s.APIVersion, plan.SavedVersion).WithHint(plan.MakeAgain)
	case s.Plan == nil || s.Plan.Cluster == "":
		return diag.New(pos, "the file holds no plan").WithHint(plan.MakeAgain)
	}
	return nil
}

// Resume makes the plan again from what is desired and observed now, and
// returns it, if it still is the plan that was saved: see [Plan.Again]. More is
// consent in addition to what the saved plan has.
func (s *Saved) Resume(desired schemas.Infrastructure, observed Observed, more plan.Consent) (*Plan, error) {
	switch {
	case desired.Cluster != s.Plan.Cluster:
		return nil, s.Plan.staleError("it is a plan of another cluster, not of " + desired.Cluster)
	case plan.DigestOf(desired) != s.Desired:
		return nil, s.Plan.staleError("infrastructure.yaml has changed")
	}
	reviewed := *s.Plan
	reviewed.Desired, reviewed.inGit, reviewed.policy = desired, desired, s.Policy
	return reviewed.Again(observed, more)
}

// Again makes the plan again from a later observation, and returns it with the
// changes that it had, if what they write and rely on is as it was, and the
// same follows from it. Otherwise the error says what has changed, with the exit
// code [diag.Conflict]. Everything else may have changed: it is not touched.
func (p *Plan) Again(observed Observed, more plan.Consent) (*Plan, error) {
	policy := p.policy.And(more)
	planner, err := newPlanner(p.inGit, observed, policy)
	if err != nil {
		return nil, err
	}
	if changed := plan.Changed(p.Reads, reader{planner.attachment, planner.observed}.again(p.Reads)); len(changed) > 0 {
		return nil, p.staleError(changed...)
	}
	run := Make
	if p.Destroy {
		run = Destroy
	}
	now, err := run(p.inGit, observed, policy)
	if err != nil {
		return nil, err
	}
	now.restrict(p)
	if changed := now.unlike(p); len(changed) > 0 {
		return nil, p.staleError(changed...)
	}
	return now, nil
}

func (p *Plan) staleError(changed ...string) error { return plan.StaleError(p.Cluster, changed...) }

// restrict drops what an earlier plan does not do: it was not reviewed.
func (p *Plan) restrict(earlier *Plan) {
	keys := map[plan.Key]bool{"": true}
	for _, c := range earlier.Changes {
		keys[c.Key] = true
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool { return !keys[c.Key] })
	for i := range p.Changes {
		c := &p.Changes[i]
		c.Needs = slices.DeleteFunc(c.Needs, func(k plan.Key) bool { return !keys[k] })
	}
	p.Refusals = slices.DeleteFunc(p.Refusals, func(n plan.Note) bool { return !keys[n.Key] })
	p.Cost = earlier.Cost
}

// unlike says which changes of a plan differ from those of an earlier one. What Hetzner
// has to sell, and consent, may differ; and what belongs to a run may be gone.
func (p *Plan) unlike(earlier *Plan) (keys []string) {
	for _, was := range earlier.Changes {
		i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.Key == was.Key })
		if i < 0 && p.Destroy && was.Action == Delete && !was.Destructive {
			continue
		}
		if i < 0 || essence(p.Changes[i]) != essence(was) {
			keys = append(keys, fmt.Sprintf("something else would happen to %s now", was.Key))
		}
	}
	return keys
}

// essence is what a change does, as text.
func essence(c Change) string {
	c.Candidates, c.Consent, c.Allowed, c.Fields = nil, plan.NoConsent, false, slices.Clone(c.Fields)
	for i, f := range c.Fields {
		if c.Kind == KindServer && (f.Name == FieldType || f.Name == FieldLocation) {
			c.Fields[i].to = "" // that of the first candidate
		}
	}
	return plan.DigestOf(c)
}
