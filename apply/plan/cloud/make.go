package cloud

import (
	"fmt"
	"maps"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Make compares what is desired with what was observed. An error means that
// the input cannot be compared; what must not be done is in Refusals.
func Make(desired schemas.Infrastructure, observed Observed, policy plan.Policy) (*Plan, error) {
	m, err := newMaker(desired, observed, policy)
	if err != nil {
		return nil, err
	}
	switch desired.Provider {
	case schemas.Static:
	case schemas.Hetzner:
		m.network()
		m.firewalls()
		m.groups()
		m.floatingIPs()
		m.images()
		m.servers()
		m.primaryIPs()
		m.balancers()
		m.records()
		m.staleSubnets()
	default:
		return nil, diag.On("infrastructure.yaml", "there is no provider %q", desired.Provider)
	}
	return m.finish()
}

// maker makes one plan.
type maker struct {
	desired  *schemas.Infrastructure
	observed *Observed
	policy   plan.Policy
	plan     *Plan
	owner    owner
	net      *Network           // the cluster's network; nil if it is not there yet
	used     map[plan.Key]bool  // kind/id of what is desired and there
	ids      map[plan.Key]int64 // ids by key of the same
	full     map[int64]bool     // placement groups without room
}

func newMaker(desired schemas.Infrastructure, observed Observed, policy plan.Policy) (*maker, error) {
	if desired.Cluster == "" {
		return nil, diag.On("infrastructure.yaml", "the cluster has no name")
	}
	p := &Plan{Cluster: desired.Cluster, Desired: desired, Observed: observed, policy: policy}
	m := &maker{
		desired: &p.Desired, observed: &p.Observed, policy: policy, plan: p,
		used: map[plan.Key]bool{}, ids: map[plan.Key]int64{}, full: map[int64]bool{},
	}
	m.owner = newOwner(m.desired, m.observed)
	m.net = m.findNetwork()
	return m, nil
}

// finish orders the changes and adds what follows from all of them.
func (m *maker) finish() (*Plan, error) {
	m.oneAtATime()
	return m.ordered()
}

// ordered orders the changes and adds what follows from their order.
func (m *maker) ordered() (*Plan, error) {
	if err := m.order(); err != nil {
		return nil, err
	}
	m.cost()
	m.reads()
	return m.plan, nil
}

// Executable reports whether nothing is refused and every consent is given.
func (p *Plan) Executable() bool {
	return len(p.Refusals) == 0 && !slices.ContainsFunc(p.Changes, func(c Change) bool { return !c.Allowed })
}

// object is anything with an id, a name and labels.
type object interface{ meta() Meta }

func (m Meta) meta() Meta { return m }

// claim finds the object of a desired name, if the cluster owns it or may adopt
// it. Blocked says that something else has the name: nothing can be done then.
func claim[T object](m *maker, kind Kind, name string, list []T) (have *T, blocked bool) {
	i := slices.IndexFunc(list, func(o T) bool { return o.meta().Name == name })
	if i < 0 {
		return nil, false
	}
	meta := list[i].meta()
	key := KeyOf(kind, name)
	if !m.owner.owns(meta.Labels) && !plan.Named(m.policy.Adopt, key, name) {
		m.refusal(key,
			fmt.Sprintf("something else has this name already: id %d, %s", meta.ID, ownedBy(meta.Labels)),
			fmt.Sprintf("rename or remove it, or take it over with --adopt %s", key))
		return nil, true
	}
	m.use(kind, name, meta.ID)
	return &list[i], false
}

// use remembers that an object is desired.
func (m *maker) use(kind Kind, name string, id int64) {
	m.used[KeyOf(kind, idText(id))] = true
	m.ids[KeyOf(kind, name)] = id
}

// stale calls visit with the objects that the cluster owns and does not want.
func stale[T object](m *maker, kind Kind, list []T, visit func(*T)) {
	for i := range list {
		meta := list[i].meta()
		if m.owner.owns(meta.Labels) && !m.used[KeyOf(kind, idText(meta.ID))] {
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

// labels compares labels, one field for each key. Labels that apply keeps for
// itself are left alone.
func (d *draft) labels(have, want map[string]string) {
	all := maps.Clone(have)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, want)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		from, there := have[key]
		to, wanted := want[key]
		if internalLabel(key) || there == wanted && from == to {
			continue
		}
		d.field(Field{Name: FieldLabels, Item: key, from: from, to: to, Class: InPlace, Reason: labelReason(there, wanted)})
	}
}

func labelReason(there, wanted bool) string {
	switch {
	case !there:
		return "the label is missing"
	case !wanted:
		return "nobody asked for this label"
	default:
		return ""
	}
}
