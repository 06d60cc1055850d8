package plantest

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// Model is a project at Hetzner Cloud, in memory. It knows what a plan looks at,
// and refuses what the API would refuse: so a plan that does things in a wrong
// order fails.
type Model struct {
	Observed cloud.Observed
	next     int64
}

// NewModel makes a model of a project.
func NewModel(o cloud.Observed) *Model { return &Model{Observed: o, next: 1000} }

// call is one call of the API: all of it happens, or nothing.
type call func() error

// Apply executes the changes of a plan in their order, and stops after a number
// of calls, as if the program had been killed. It returns how many calls it
// made. Fewer than the limit means that the plan is done.
func (m *Model) Apply(p *cloud.Plan, limit int) (calls int, err error) {
	for _, c := range p.Changes {
		for _, do := range m.calls(p, c) {
			if calls == limit {
				return calls, nil
			}
			calls++
			if err := do(); err != nil {
				return calls, fmt.Errorf("%s %s: %w", c.Action, c.Key, err)
			}
			m.settle()
		}
	}
	return calls, nil
}

// calls are the calls that a change takes.
func (m *Model) calls(p *cloud.Plan, c cloud.Change) []call {
	switch c.Kind {
	case cloud.KindNetwork:
		return m.network(p, c)
	case cloud.KindSubnet:
		return m.subnet(p, c)
	case cloud.KindRoute:
		return m.route(p, c)
	case cloud.KindFirewall:
		return m.firewall(p, c)
	case cloud.KindPlacementGroup:
		return m.group(p, c)
	case cloud.KindFloatingIP:
		return m.floatingIP(p, c)
	case cloud.KindPrimaryIP:
		return []call{func() error { return remove(&m.Observed.PrimaryIPs, c.ID) }}
	case cloud.KindServer:
		return m.server(p, c)
	case cloud.KindVolume:
		return m.volume(c)
	case cloud.KindLoadBalancer:
		return m.balancer(p, c)
	case cloud.KindImage:
		return m.image(p, c)
	case cloud.KindRRSet:
		return m.record(p, c)
	default:
		return []call{func() error { return fmt.Errorf("the model knows no %s", c.Kind) }}
	}
}

// settle makes what follows from something else follow: members and firewalls
// by selector.
func (m *Model) settle() {
	o := &m.Observed
	for i := range o.Networks {
		o.Networks[i].Servers, o.Networks[i].LoadBalancers = nil, nil
		for _, s := range o.Servers {
			if attached(s.PrivateNets, o.Networks[i].ID) {
				o.Networks[i].Servers = append(o.Networks[i].Servers, s.ID)
			}
		}
		for _, b := range o.LoadBalancers {
			if attached(b.PrivateNets, o.Networks[i].ID) {
				o.Networks[i].LoadBalancers = append(o.Networks[i].LoadBalancers, b.ID)
			}
		}
	}
	for i := range o.PlacementGroups {
		o.PlacementGroups[i].Servers = nil
		for _, s := range o.Servers {
			if s.PlacementGroup == o.PlacementGroups[i].ID {
				o.PlacementGroups[i].Servers = append(o.PlacementGroups[i].Servers, s.ID)
			}
		}
	}
	for i := range o.Servers {
		s := &o.Servers[i]
		s.Firewalls = nil
		for _, f := range o.Firewalls {
			if (s.PublicIPv4.IP != "" || s.PublicIPv6.IP != "") && (slices.Contains(f.Servers, s.ID) || selects(f.Selectors, s.Labels)) {
				s.Firewalls = append(s.Firewalls, cloud.AppliedFirewall{ID: f.ID, Status: "applied"})
			}
		}
	}
}

// Settle makes a project that was edited by hand consistent.
func (m *Model) Settle() { m.settle() }

func attached(nets []cloud.PrivateNet, id int64) bool {
	return slices.ContainsFunc(nets, func(n cloud.PrivateNet) bool { return n.Network == id })
}

func selects(selectors []string, labels map[string]string) bool {
	return slices.ContainsFunc(selectors, func(text string) bool {
		s, err := labelselector.Parse(text)
		return err == nil && s.Matches(labels)
	})
}

// id is the next id.
func (m *Model) id() int64 { m.next++; return m.next }

// ipv4 and ipv6 are public addresses that follow from an id.
func ipv4(id int64) cloud.PublicIP {
	ip := netip.AddrFrom4([4]byte{203, byte(id >> 16), byte(id >> 8), byte(id)}).String()
	parts := strings.Split(ip, ".")
	slices.Reverse(parts)
	return cloud.PublicIP{ID: id, IP: ip, DNSPtr: "static." + strings.Join(parts, ".") + ".clients.your-server.de"}
}

func ipv6(id int64) cloud.PublicIP {
	return cloud.PublicIP{ID: id, IP: fmt.Sprintf("2001:db8:%x::/64", id)}
}

// object is what has an id and a name.
type object interface {
	cloud.Network | cloud.Firewall | cloud.LoadBalancer | cloud.PlacementGroup | cloud.FloatingIP | cloud.PrimaryIP | cloud.Server | cloud.Volume | cloud.Image
}

func metaOf[T object](o *T) *cloud.Meta {
	switch o := any(o).(type) {
	case *cloud.Network:
		return &o.Meta
	case *cloud.Firewall:
		return &o.Meta
	case *cloud.LoadBalancer:
		return &o.Meta
	case *cloud.PlacementGroup:
		return &o.Meta
	case *cloud.FloatingIP:
		return &o.Meta
	case *cloud.PrimaryIP:
		return &o.Meta
	case *cloud.Server:
		return &o.Meta
	case *cloud.Volume:
		return &o.Meta
	case *cloud.Image:
		return &o.Meta
	}
	return nil
}

// create adds an object, unless one has its name.
func create[T object](m *Model, list *[]T, o T) (*T, error) {
	meta := metaOf(&o)
	for i := range *list {
		if meta.Name != "" && metaOf(&(*list)[i]).Name == meta.Name {
			return nil, fmt.Errorf("uniqueness_error: the name %s is used already", meta.Name)
		}
	}
	meta.ID, meta.Created = m.id(), Start
	*list = append(*list, o)
	return &(*list)[len(*list)-1], nil
}

func byID[T object](list []T, id int64) (*T, error) {
	for i := range list {
		if metaOf(&list[i]).ID == id {
			return &list[i], nil
		}
	}
	return nil, fmt.Errorf("not_found: id %d", id)
}

func byName[T object](list []T, name string) (*T, error) {
	for i := range list {
		if metaOf(&list[i]).Name == name {
			return &list[i], nil
		}
	}
	return nil, fmt.Errorf("not_found: %s", name)
}

func remove[T object](list *[]T, id int64) error {
	for i := range *list {
		if metaOf(&(*list)[i]).ID == id {
			*list = slices.Delete(*list, i, i+1)
			return nil
		}
	}
	return fmt.Errorf("not_found: id %d", id)
}

// fieldsOf are the names of fields of a change, each once, in order.
func fieldsOf(c cloud.Change) []string {
	var names []string
	for _, f := range c.Fields {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// setLabels writes labels to an object.
func setLabels(meta *cloud.Meta, want map[string]string) {
	meta.Labels = cloud.MergeLabels(want, meta.Labels)
}

// networkOf is the network that a plan is about.
func (m *Model) networkOf(p *cloud.Plan) (*cloud.Network, error) {
	if id := p.Desired.Network.ExistingID; id != 0 {
		return byID(m.Observed.Networks, id)
	}
	return byName(m.Observed.Networks, p.Desired.Network.Name)
}

func labelsOf(labels map[string]string) map[string]string { return maps.Clone(labels) }

// find returns the desired object of a name.
func find[T any](list []T, is func(T) bool) (T, error) {
	for _, o := range list {
		if is(o) {
			return o, nil
		}
	}
	var zero T
	return zero, fmt.Errorf("the plan changes what is not desired")
}

func wantServer(p *cloud.Plan, name string) (schemas.InfraServer, error) {
	return find(p.Desired.Servers, func(s schemas.InfraServer) bool { return s.Name == name })
}
