package cloud

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// foreign reports whether a network exists already and is not the cluster's.
func foreign(n *schemas.InfraNetwork) bool {
	return n != nil && (n.Existing || n.ExistingID != 0)
}

// findNetwork finds the cluster's network: its own by labels, another by what
// identifies it.
func (m *maker) findNetwork() *Network {
	want := m.desired.Network
	if want == nil {
		return nil
	}
	i := slices.IndexFunc(m.observed.Networks, func(n Network) bool {
		switch {
		case want.ExistingID != 0:
			return n.ID == want.ExistingID
		case want.Existing:
			return n.Name == want.Name
		default:
			return n.Name == want.Name && (m.owner.owns(n.Labels) || plan.Named(m.policy.Adopt, KeyOf(KindNetwork, n.Name), n.Name))
		}
	})
	if i < 0 {
		return nil
	}
	return &m.observed.Networks[i]
}

// network compares the network, its subnets and its routes.
func (m *maker) network() {
	want, usable := m.desired.Network, false
	switch {
	case want == nil:
	case foreign(want):
		usable = m.foreignNetwork(want)
	default:
		usable = m.ownNetwork(want)
	}
	stale(m, KindNetwork, m.observed.Networks, m.deleteNetwork)
	if usable {
		m.subnets(want)
		m.routes(want)
	}
}

// networkKey is the key of the cluster's network.
func (m *maker) networkKey() plan.Key {
	if m.desired.Network == nil {
		return ""
	}
	return KeyOf(KindNetwork, networkName(m.desired.Network))
}

func networkName(n *schemas.InfraNetwork) string {
	if n.Name == "" {
		return idText(n.ExistingID)
	}
	return n.Name
}

// foreignNetwork reports whether the network can be used: it changes nothing.
func (m *maker) foreignNetwork(want *schemas.InfraNetwork) bool {
	key := m.networkKey()
	if m.net == nil {
		m.refusal(key, "there is no such network in the project", "make it, or correct the network in cluster.yaml")
		return false
	}
	m.use(KindNetwork, networkName(want), m.net.ID)
	if m.owner.owns(m.net.Labels) {
		m.warn(key, "by its labels it is the cluster's own, and destroy deletes it", "remove the labels if it is not")
	}
	if !samePrefix(want.IPRange, m.net.IPRange) {
		m.refusal(key, fmt.Sprintf("its range is %s, not %s, and it is not the cluster's own", m.net.IPRange, want.IPRange),
			"set the range in cluster.yaml to that of the network")
	}
	if want.ExposeRoutesToVSwitch && !m.net.ExposeRoutesToVSwitch {
		m.refusal(key, "it does not tell its vSwitch the routes, and it is not the cluster's own",
			"turn on exposing routes to the vSwitch at the network")
	}
	return true
}

// ownNetwork reports whether the network can be used: nobody else has its name.
func (m *maker) ownNetwork(want *schemas.InfraNetwork) bool {
	have, blocked := claim(m, KindNetwork, want.Name, m.observed.Networks)
	if blocked {
		return false
	}
	if have == nil {
		d := m.draft(KindNetwork, want.Name, 0, Create)
		d.show(FieldIPRange, want.IPRange)
		d.Reason = missing
		m.add(d)
		return true
	}
	d := m.draft(KindNetwork, want.Name, have.ID, Update)
	m.networkRange(d, have.IPRange, want.IPRange)
	d.differ(FieldExpose, onOff(have.ExposeRoutesToVSwitch), onOff(want.ExposeRoutesToVSwitch), "")
	d.labels(have.Labels, want.Labels)
	d.differ(FieldProtected, onOff(have.Protected), onOff(want.Protected), "")
	m.add(d)
	return true
}

// networkRange lets a network grow around what it has; Hetzner allows no more.
func (m *maker) networkRange(d *draft, from, to string) {
	if samePrefix(from, to) {
		return
	}
	f := Field{Name: FieldIPRange, from: from, to: to, Class: InPlace}
	if prefixContains(to, from) {
		d.field(f)
		return
	}
	f.Reason = "a network can only grow around its range"
	d.refuse(f, "keep the range %s, or one that contains it", from)
}

// deleteNetwork deletes a network that is no longer desired, with everything
// in it gone before.
func (m *maker) deleteNetwork(n *Network) {
	d := m.draft(KindNetwork, n.Name, n.ID, Delete)
	d.Destructive, d.LiftProtection, d.Reason = true, n.Protected, unwanted
	for _, id := range n.Servers {
		d.after(m.serverKey(id))
	}
	for _, id := range n.LoadBalancers {
		d.after(m.balancerKey(id))
	}
	m.add(d)
}

// Reasons that many changes have.
const (
	missing  = "it is not there"
	unwanted = "it is the cluster's, and no longer in infrastructure.yaml"
)

// serverKey is the key of a server with an id.
func (m *maker) serverKey(id int64) plan.Key { return keyByID(KindServer, id, m.observed.Servers) }

func (m *maker) balancerKey(id int64) plan.Key {
	return keyByID(KindLoadBalancer, id, m.observed.LoadBalancers)
}

func keyByID[T object](kind Kind, id int64, list []T) plan.Key {
	for _, o := range list {
		if o.meta().ID == id {
			return KeyOf(kind, o.meta().Name)
		}
	}
	return KeyOf(kind, idText(id))
}

// parsePrefix reads a range; a text that is none is an invalid prefix, which
// equals and contains nothing.
func parsePrefix(text string) netip.Prefix {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}
	}
	return p.Masked()
}

func samePrefix(a, b string) bool {
	return a == b || parsePrefix(a).IsValid() && parsePrefix(a) == parsePrefix(b)
}

// prefixContains reports whether the range outer holds all of inner.
func prefixContains(outer, inner string) bool {
	o, i := parsePrefix(outer), parsePrefix(inner)
	return o.IsValid() && i.IsValid() && o.Bits() <= i.Bits() && o.Contains(i.Addr())
}

func overlap(a, b string) bool {
	x, y := parsePrefix(a), parsePrefix(b)
	return x.IsValid() && y.IsValid() && x.Overlaps(y)
}

// inRange reports whether a range holds an address.
func inRange(prefix, address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && parsePrefix(prefix).Contains(a)
}

// subnetFor is the key of the desired subnet that holds an address.
func (m *maker) subnetFor(address string) plan.Key {
	if m.desired.Network == nil {
		return ""
	}
	for _, s := range m.desired.Network.Subnets {
		if inRange(s.IPRange, address) {
			return KeyOf(KindSubnet, s.IPRange)
		}
	}
	return ""
}
