package cloud

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
)

// Harmless is the part of a plan that disturbs nothing, destroys nothing and takes nobody's
// consent: objects that are there become again as they should be, while they work, and
// what costs nothing and holds nothing is made again. What relies on another change is not
// among it, unless that one is. It refuses what the plan refuses.
func (p *Plan) Harmless() *Plan {
	part := *p
	part.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return !c.harmless() })
	for left := -1; left != len(part.Changes); {
		left = len(part.Changes)
		part.Changes = slices.DeleteFunc(part.Changes, func(c Change) bool {
			return slices.ContainsFunc(c.Needs, func(k plan.Key) bool { return p.changes(k) && !part.changes(k) })
		})
	}
	return &part
}

// Without is a plan without the changes of some objects.
func (p *Plan) Without(keys ...plan.Key) *Plan {
	part := *p
	part.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return slices.Contains(keys, c.Key) })
	return &part
}

// Moves are the routes that a plan leads to the other one of their two gateways.
func (p *Plan) Moves() (keys []plan.Key) {
	if p.Desired.Network == nil {
		return nil
	}
	for _, r := range p.Desired.Network.Routes {
		for _, c := range p.Changes {
			if r.Standby != "" && c.Action == Update && c.Key == KeyOf(KindRoute, r.Destination) {
				keys = append(keys, c.Key)
			}
		}
	}
	return keys
}

// free are the kinds of objects that cost nothing and hold nothing.
var free = []Kind{KindRoute, KindFirewall, KindRRSet}

// harmless reports whether a change by itself is.
func (c Change) harmless() bool {
	if c.Consent != plan.NoConsent || !c.Allowed || c.Destructive || c.LiftProtection || c.sake != "" {
		return false
	}
	switch c.Action {
	case Create:
		return slices.Contains(free, c.Kind)
	case Update:
		return c.Class == InPlace
	}
	return false
}

// changes reports whether a plan changes an object.
func (p *Plan) changes(k plan.Key) bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Key == k })
}
