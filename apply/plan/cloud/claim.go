package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// claims remembers which objects are desired and there.
type claims struct {
	used map[plan.Key]bool  // by kind and id
	ids  map[plan.Key]int64 // by key
	full map[int64]bool     // placement groups without room, by id
}

// use remembers that an object is desired.
func (c *claims) use(kind Kind, name string, id int64) {
	c.used[KeyOf(kind, idText(id))] = true
	c.ids[KeyOf(kind, name)] = id
}

// adopted reports whether an object becomes the cluster's.
func (c *claims) adopted(kind Kind, id int64) bool { return c.used[KeyOf(kind, idText(id))] }

// claim finds the object of a desired name, if the cluster owns it or may adopt
// it. Blocked says that something else has the name: nothing can be done then.
func claim[T object](p *planner, kind Kind, name string, list []T) (have *T, blocked bool) {
	i := slices.IndexFunc(list, func(o T) bool { return o.meta().Name == name })
	if i < 0 {
		return nil, false
	}
	meta := list[i].meta()
	key := KeyOf(kind, name)
	if !p.owner.owns(meta.Labels) && !plan.Named(p.policy.Adopt, key, name) {
		p.refusal(key,
			fmt.Sprintf("something else has this name already: id %d, %s", meta.ID, ownedBy(meta.Labels)),
			fmt.Sprintf("rename or remove it, or take it over with --adopt %s", key))
		return nil, true
	}
	p.use(kind, name, meta.ID)
	return &list[i], false
}

// stale calls visit with the objects that the cluster owns and does not want.
func stale[T object](p *planner, kind Kind, list []T, visit func(*T)) {
	for i := range list {
		meta := list[i].meta()
		if p.owner.owns(meta.Labels) && !p.used[KeyOf(kind, idText(meta.ID))] {
			visit(&list[i])
		}
	}
}

// ownedBy says in words who an object belongs to.
func ownedBy(labels map[string]string) string {
	cluster, by := labels[schemas.LabelCluster], labels[schemas.LabelManagedBy]
	switch {
	case cluster != "" && by == schemas.ManagedBy:
		return fmt.Sprintf("of the cluster %s", cluster)
	case by != "":
		return fmt.Sprintf("managed by %s", by)
	case len(labels) == 0:
		return "without labels"
	default:
		return "without the labels of this cluster"
	}
}
