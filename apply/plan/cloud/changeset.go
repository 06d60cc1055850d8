package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
)

// changeSet is a plan while it grows: changes, what is refused, and what should
// be known.
type changeSet struct {
	plan   *Plan
	policy plan.Consent
}

// add takes a draft into the plan, unless it is an update of nothing.
func (s *changeSet) add(d *changeBuilder) {
	if d.Action == Update && len(d.Fields) == 0 {
		return
	}
	d.Class = InPlace
	if d.Action == Replace {
		d.Class = Replacement
	}
	for _, f := range d.Fields {
		d.Class = worse(d.Class, f.Class)
	}
	if d.Class == Refused {
		s.refuseFields(d)
	}
	s.consent(&d.Change)
	s.plan.Changes = append(s.plan.Changes, d.Change)
}

func (s *changeSet) refuseFields(d *changeBuilder) {
	hint := 0
	for _, f := range d.Fields {
		if f.Class != Refused {
			continue
		}
		text := fmt.Sprintf("%s cannot become %s, it is %s", f.path(), orNone(f.to), orNone(f.from))
		if f.Reason != "" {
			text += ": " + f.Reason
		}
		s.refusal(d.Key, text, d.hints[hint])
		hint++
	}
}

// consent sets what a change takes, and whether the policy has it. Whoever
// agrees that an object is destroyed agrees that it is powered off.
func (s *changeSet) consent(c *Change) {
	switch {
	case c.Consent != plan.NoConsent: // destroy has set it
	case s.plan.Recreates(*c):
		c.Consent, c.Allowed = plan.ConsentRecreate, true
	case c.Destructive:
		c.Consent, c.Allowed = plan.ConsentDestroy, s.policy.Destroys(c.Key, c.Name)
	case c.Class == PowerOff:
		c.Consent, c.Allowed = plan.ConsentPowerOff, s.policy.PowersOff(c.Key, c.Name)
	default:
		c.Allowed = true
	}
}

// refusal adds a reason why the plan must not be executed.
func (s *changeSet) refusal(key plan.Key, text, hint string) {
	s.plan.Refusals = append(s.plan.Refusals, plan.Note{Key: key, Text: text, Hint: hint})
}

// warn adds a remark.
func (s *changeSet) warn(key plan.Key, text, hint string) {
	s.plan.Warnings = append(s.plan.Warnings, plan.Note{Key: key, Text: text, Hint: hint})
}

func (s *changeSet) left(key plan.Key, text, hint string) {
	s.plan.Left = append(s.plan.Left, plan.Note{Key: key, Text: text, Hint: hint})
}

// change finds the change of an object that is there.
func (s *changeSet) change(kind Kind, id int64) *Change {
	i := slices.IndexFunc(s.plan.Changes, func(c Change) bool { return c.Kind == kind && c.ID == id && id != 0 })
	if i < 0 {
		return nil
	}
	return &s.plan.Changes[i]
}

// creates reports whether the plan creates an object.
func (s *changeSet) creates(key plan.Key) bool {
	return slices.ContainsFunc(s.plan.Changes, func(c Change) bool { return c.Key == key && c.Action == Create })
}

// goes reports whether the plan deletes an object.
func (s *changeSet) goes(kind Kind, id int64) bool {
	c := s.change(kind, id)
	return c != nil && c.Action == Delete
}

// leaves reports whether the plan takes an object out of the network's subnet.
func (s *changeSet) leaves(key plan.Key) bool {
	return slices.ContainsFunc(s.plan.Changes, func(c Change) bool {
		if c.Key != key {
			return false
		}
		return c.Action == Delete || c.Action == Replace ||
			slices.ContainsFunc(c.Fields, func(f Field) bool { return f.Name == FieldPrivateIP && f.Edit != Add && f.Class != Refused })
	})
}
