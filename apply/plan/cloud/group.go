package cloud

// groups plans placement groups.
type groups struct{ *planner }

// groupMembers is how many servers a placement group of Hetzner can have.
const groupMembers = 10

// compare compares placement groups.
func (p *groups) compare() {
	for _, want := range p.desired.PlacementGroups {
		have, blocked := claim(p.planner, KindPlacementGroup, want.Name, p.observed.PlacementGroups)
		switch {
		case blocked:
		case have == nil:
			d := buildChange(KindPlacementGroup, want.Name, 0, Create)
			d.Reason = missing
			p.add(d)
		default:
			p.full[have.ID] = len(have.Servers) >= groupMembers
			d := buildChange(KindPlacementGroup, want.Name, have.ID, Update)
			d.labels(have.Labels, want.Labels)
			p.add(d)
		}
	}
	stale(p.planner, KindPlacementGroup, p.observed.PlacementGroups, func(g *PlacementGroup) {
		d := buildChange(KindPlacementGroup, g.Name, g.ID, Delete)
		d.Reason = unwanted
		for _, id := range g.Servers {
			d.after(p.observed.serverKey(id))
		}
		p.add(d)
	})
}
