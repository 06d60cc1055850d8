package cloud

import (
	"cmp"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
)

// kinds in the order in which a cluster is built; it is taken down in the
// other direction.
var kinds = []Kind{
	KindImage, KindNetwork, KindSubnet, KindRoute, KindFirewall, KindPlacementGroup, KindSSHKey, KindFloatingIP,
	KindPrimaryIP, KindServer, KindVolume, KindLoadBalancer, KindRRSet,
}

// order puts changes after those that they need, and otherwise into the order
// in which people expect thes.
func (s *changeSet) order() error {
	s.dropNeeds()
	changes := s.plan.Changes
	sorting.By(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(place(&a), place(&b)), natural.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	ordered := make([]Change, 0, len(changes))
	done := map[plan.Key]bool{}
	for len(changes) > 0 {
		i := slices.IndexFunc(changes, func(c Change) bool {
			return !slices.ContainsFunc(c.Needs, func(k plan.Key) bool { return !done[k] })
		})
		if i < 0 {
			return diag.On("infrastructure.yaml", "these changes wait for each other: %s", plan.Join(keysOf(changes))).
				WithHint("make them one after the other: two objects cannot swap their addresses at once")
		}
		ordered = append(ordered, changes[i])
		done[changes[i].Key] = true
		changes = slices.Delete(changes, i, i+1)
	}
	s.plan.Changes = ordered
	return nil
}

// place sorts changes that do not need each other.
func place(c *Change) int {
	i := slices.Index(kinds, c.Kind)
	if c.Action == Delete {
		return 2*len(kinds) - i
	}
	return i
}

// dropNeeds forgets what nothing has to be done about, and repetitions. What
// must be there does not wait for the end of something that has its name.
func (s *changeSet) dropNeeds() {
	actions := map[plan.Key]Action{}
	for _, c := range s.plan.Changes {
		actions[c.Key] = c.Action
	}
	for i := range s.plan.Changes {
		c := &s.plan.Changes[i]
		c.relies = append(append(c.relies, c.Needs...), c.gone...)
		var needs []plan.Key
		take := func(k plan.Key) {
			if actions[k] != "" && k != c.Key && !slices.Contains(needs, k) {
				needs = append(needs, k)
			}
		}
		for _, k := range c.Needs {
			if actions[k] != Delete {
				take(k)
			}
		}
		for _, k := range c.gone {
			if actions[k] != Create {
				take(k)
			}
		}
		c.Needs = needs
	}
}

func keysOf(changes []Change) []plan.Key {
	keys := make([]plan.Key, len(changes))
	for i, c := range changes {
		keys[i] = c.Key
	}
	return keys
}
