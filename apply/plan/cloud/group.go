package cloud

import "slices"

// groupMembers is how many servers a placement group of Hetzner can have.
const groupMembers = 10

// groups compares placement groups.
func (m *maker) groups() {
	for _, want := range m.desired.PlacementGroups {
		have, blocked := claim(m, KindPlacementGroup, want.Name, m.observed.PlacementGroups)
		switch {
		case blocked:
		case have == nil:
			d := m.draft(KindPlacementGroup, want.Name, 0, Create)
			d.Reason = missing
			m.add(d)
		default:
			m.full[have.ID] = len(have.Servers) >= groupMembers
			d := m.draft(KindPlacementGroup, want.Name, have.ID, Update)
			d.labels(have.Labels, want.Labels)
			m.add(d)
		}
	}
	stale(m, KindPlacementGroup, m.observed.PlacementGroups, func(g *PlacementGroup) {
		d := m.draft(KindPlacementGroup, g.Name, g.ID, Delete)
		d.Reason = unwanted
		for _, id := range g.Servers {
			d.after(m.serverKey(id))
		}
		m.add(d)
	})
}

// groupName is the name of the placement group with an id.
func (m *maker) groupName(id int64) string {
	if id == 0 {
		return ""
	}
	i := slices.IndexFunc(m.observed.PlacementGroups, func(g PlacementGroup) bool { return g.ID == id })
	if i < 0 {
		return idText(id)
	}
	return m.observed.PlacementGroups[i].Name
}
