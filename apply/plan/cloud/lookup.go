package cloud

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// serverKey is the key of a server with an id.
func (o *Observed) serverKey(id int64) plan.Key { return keyByID(KindServer, id, o.Servers) }

func (o *Observed) balancerKey(id int64) plan.Key {
	return keyByID(KindLoadBalancer, id, o.LoadBalancers)
}

func keyByID[T object](kind Kind, id int64, list []T) plan.Key {
	for _, o := range list {
		if o.meta().ID == id {
			return KeyOf(kind, o.meta().Name)
		}
	}
	return KeyOf(kind, idText(id))
}

// groupName is the name of the placement group with an id.
func (o *Observed) groupName(id int64) string {
	if id == 0 {
		return ""
	}
	i := slices.IndexFunc(o.PlacementGroups, func(g PlacementGroup) bool { return g.ID == id })
	if i < 0 {
		return idText(id)
	}
	return o.PlacementGroups[i].Name
}

func (o *Observed) networkText(id int64) string {
	i := slices.IndexFunc(o.Networks, func(n Network) bool { return n.ID == id })
	if i < 0 {
		return idText(id)
	}
	return o.Networks[i].Name
}

func (o *Observed) controlPlane(id int64) bool {
	return slices.ContainsFunc(o.Servers, func(s Server) bool {
		return s.ID == id && schemas.RoleOf(s.Labels) == schemas.RoleControlPlane
	})
}

func (o *Observed) recordSet(name string) any {
	for _, z := range o.Zones {
		for _, set := range z.RRSets {
			if recordName(set.Name, z.Name, set.Type) == name {
				return set
			}
		}
	}
	return nil
}
