package cloud

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// withKept adds to the labels that are desired those that objects have besides, if these
// are to stay. What talosgen itself says of an object is not among them.
func withKept(desired schemas.Infrastructure, observed *Observed) schemas.Infrastructure {
	if !desired.KeepOthers {
		return desired
	}
	if n := desired.Network; n != nil && !n.Existing && n.ExistingID == 0 {
		own := *n
		own.Labels = keptOf(n.Labels, n.Name, observed.Networks)
		desired.Network = &own
	}
	desired.Servers = slices.Clone(desired.Servers)
	for i := range desired.Servers {
		s := &desired.Servers[i]
		s.Labels = keptOf(s.Labels, s.Name, observed.Servers)
	}
	desired.PlacementGroups = slices.Clone(desired.PlacementGroups)
	for i := range desired.PlacementGroups {
		g := &desired.PlacementGroups[i]
		g.Labels = keptOf(g.Labels, g.Name, observed.PlacementGroups)
	}
	desired.LoadBalancers = slices.Clone(desired.LoadBalancers)
	for i := range desired.LoadBalancers {
		b := &desired.LoadBalancers[i]
		b.Labels = keptOf(b.Labels, b.Name, observed.LoadBalancers)
	}
	return desired
}

// keptOf are labels, and those that the object of a name has besides.
func keptOf[T object](want map[string]string, name string, list []T) map[string]string {
	all := maps.Clone(want)
	for _, o := range list {
		if o.meta().Name != name {
			continue
		}
		for key, value := range o.meta().Labels {
			if _, said := want[key]; !said && !internalLabel(key) && key != schemas.LabelNodeGroup {
				all[key] = value
			}
		}
	}
	return all
}
