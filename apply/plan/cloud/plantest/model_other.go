package plantest

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

func in(prefix, ip string) bool {
	p, err1 := netip.ParsePrefix(prefix)
	a, err2 := netip.ParseAddr(ip)
	return err1 == nil && err2 == nil && p.Contains(a)
}

func (m *Model) balancer(p *cloud.Plan, c cloud.Change) []call {
	switch c.Action {
	case cloud.Create:
		return m.createBalancer(p, c)
	case cloud.Delete:
		return m.deleteBalancer(c)
	case cloud.Replace:
		return append(m.deleteBalancer(c), m.createBalancer(p, c)...)
	}
	want, err := find(p.Desired.LoadBalancers, func(b schemas.InfraLoadBalancer) bool { return b.Name == c.Name })
	calls := []call{func() error { return err }}
	for _, f := range c.Fields {
		calls = append(calls, func() error {
			b, err := byID(m.Observed.LoadBalancers, c.ID)
			if err != nil {
				return err
			}
			return m.balancerField(p, want, b, f)
		})
	}
	return calls
}

// createBalancer makes a load balancer in the calls that it takes: without the
// network first, because only attaching it names an address.
func (m *Model) createBalancer(p *cloud.Plan, c cloud.Change) []call {
	want, err := find(p.Desired.LoadBalancers, func(b schemas.InfraLoadBalancer) bool { return b.Name == c.Name })
	if err != nil {
		return []call{func() error { return err }}
	}
	calls := []call{func() error {
		b := cloud.LoadBalancer{
			Meta: cloud.Meta{Name: want.Name, Labels: labelsOf(want.Labels)}, Type: want.Type, Location: want.Location,
			Algorithm: want.Algorithm, PublicInterface: true, PublicIPv4: ipv4(m.id()), PublicIPv6: ipv6(m.id()),
		}
		for _, s := range want.Services {
			b.Services = append(b.Services, cloud.Service{InfraService: s})
		}
		_, err := create(m, &m.Observed.LoadBalancers, b)
		return err
	}}
	fields := []cloud.Field{{Name: cloud.FieldPrivateIP, Edit: cloud.Add}}
	for _, t := range want.Targets {
		fields = append(fields, cloud.Field{Name: cloud.FieldTargets, Item: t, Edit: cloud.Add})
	}
	for _, name := range []string{cloud.FieldPublic, cloud.FieldProtected} {
		fields = append(fields, cloud.Field{Name: name})
	}
	for _, ipType := range []string{"ipv4", "ipv6"} {
		fields = append(fields, cloud.Field{Name: cloud.FieldReverseDNS, Item: ipType})
	}
	for _, f := range fields {
		calls = append(calls, func() error {
			b, err := byName(m.Observed.LoadBalancers, want.Name)
			if err != nil {
				return err
			}
			return m.balancerField(p, want, b, f)
		})
	}
	return calls
}

func (m *Model) balancerField(p *cloud.Plan, want schemas.InfraLoadBalancer, b *cloud.LoadBalancer, f cloud.Field) error {
	switch f.Name {
	case cloud.FieldType:
		b.Type = want.Type
	case cloud.FieldAlgorithm:
		b.Algorithm = want.Algorithm
	case cloud.FieldPrivateIP:
		n, err := m.networkOf(p)
		if err != nil {
			return err
		}
		if err := m.free(n, want.PrivateIP); err != nil {
			return err
		}
		b.PrivateNets = []cloud.PrivateNet{{Network: n.ID, IP: want.PrivateIP}}
	case cloud.FieldPublic:
		b.PublicInterface = want.PublicInterface
	case cloud.FieldServices:
		return setService(b, want, f)
	case cloud.FieldTargets:
		if f.Edit != cloud.Remove && len(b.PrivateNets) == 0 {
			return fmt.Errorf("load_balancer_not_attached_to_network")
		}
		b.Targets = slices.DeleteFunc(b.Targets, func(t cloud.Target) bool { return t.Is(f.Item) })
		if f.Edit != cloud.Remove {
			b.Targets = append(b.Targets, cloud.Target{Selector: f.Item, UsePrivateIP: true})
		}
	case cloud.FieldLabels:
		setLabels(&b.Meta, want.Labels)
	case cloud.FieldProtected:
		b.Protected = want.Protected
	case cloud.FieldReverseDNS:
		if f.Item == "ipv4" {
			b.PublicIPv4 = reverse(b.PublicIPv4, b.ID, "ipv4", want.ReverseDNS)
		} else {
			b.PublicIPv6 = reverse(b.PublicIPv6, b.ID, "ipv6", want.ReverseDNS)
		}
	default:
		return fmt.Errorf("the model knows no field %s of a load balancer", f.Name)
	}
	return nil
}

func setService(b *cloud.LoadBalancer, want schemas.InfraLoadBalancer, f cloud.Field) error {
	b.Services = slices.DeleteFunc(b.Services, func(s cloud.Service) bool { return strconv.Itoa(s.ListenPort) == f.Item })
	if f.Edit == cloud.Remove {
		return nil
	}
	s, err := find(want.Services, func(s schemas.InfraService) bool { return strconv.Itoa(s.ListenPort) == f.Item })
	b.Services = append(b.Services, cloud.Service{InfraService: s})
	return err
}

func (m *Model) deleteBalancer(c cloud.Change) []call {
	return m.unprotected(c, func() *bool {
		if b, err := byID(m.Observed.LoadBalancers, c.ID); err == nil {
			return &b.Protected
		}
		return nil
	}, func() error { return remove(&m.Observed.LoadBalancers, c.ID) })
}

func (m *Model) floatingIP(p *cloud.Plan, c cloud.Change) []call {
	o := &m.Observed
	want, _ := find(p.Desired.FloatingIPs, func(f schemas.InfraFloatingIP) bool { return f.Name == c.Name })
	deletion := m.unprotected(c, func() *bool {
		if f, err := byID(o.FloatingIPs, c.ID); err == nil {
			return &f.Protected
		}
		return nil
	}, func() error { return remove(&o.FloatingIPs, c.ID) })
	creation := []call{func() error {
		f := cloud.FloatingIP{Meta: cloud.Meta{Name: want.Name, Labels: labelsOf(want.Labels)}, Type: want.Type, Location: want.Location, Description: want.Description}
		a := ipv4(m.id())
		if want.Type == "ipv6" {
			a = ipv6(a.ID)
		}
		f.IP, f.DNSPtr = a.IP, a.DNSPtr
		_, err := create(m, &o.FloatingIPs, f)
		return err
	}}
	for _, name := range []string{cloud.FieldReverseDNS, cloud.FieldProtected} {
		creation = append(creation, func() error { return m.floatingField(want, name) })
	}
	switch c.Action {
	case cloud.Create:
		return creation
	case cloud.Delete:
		return deletion
	case cloud.Replace:
		return append(deletion, creation...)
	}
	var calls []call
	for _, name := range fieldsOf(c) {
		calls = append(calls, func() error { return m.floatingField(want, name) })
	}
	return calls
}

func (m *Model) floatingField(want schemas.InfraFloatingIP, name string) error {
	f, err := byName(m.Observed.FloatingIPs, want.Name)
	if err != nil {
		return err
	}
	switch name {
	case cloud.FieldDescription:
		f.Description = want.Description
	case cloud.FieldLabels:
		setLabels(&f.Meta, want.Labels)
	case cloud.FieldProtected:
		f.Protected = want.Protected
	case cloud.FieldReverseDNS:
		if want.Type == "ipv4" && want.ReverseDNS.IPv4 == "" {
			f.DNSPtr = "static.clients.your-server.de"
			return nil
		}
		f.DNSPtr = reverse(cloud.PublicIP{IP: f.IP}, f.ID, want.Type, want.ReverseDNS).DNSPtr
	default:
		return fmt.Errorf("the model knows no field %s of a floating IP", name)
	}
	return nil
}

func (m *Model) volume(c cloud.Change) []call {
	return m.unprotected(c, func() *bool {
		if v, err := byID(m.Observed.Volumes, c.ID); err == nil {
			return &v.Protected
		}
		return nil
	}, func() error {
		if v, err := byID(m.Observed.Volumes, c.ID); err == nil && v.Server != 0 {
			return fmt.Errorf("it is attached")
		}
		return remove(&m.Observed.Volumes, c.ID)
	})
}

func (m *Model) image(p *cloud.Plan, c cloud.Change) []call {
	if c.Action == cloud.Delete {
		return []call{func() error { return remove(&m.Observed.Images, c.ID) }}
	}
	want, err := find(p.Desired.Images, func(s schemas.InfraSnapshot) bool { return cloud.ImageName(s) == c.Name })
	return []call{func() error {
		if err != nil {
			return err
		}
		m.Observed.Images = append(m.Observed.Images, cloud.Image{
			Meta: cloud.Meta{ID: m.id(), Labels: labelsOf(want.Labels), Created: Start}, Type: "snapshot", Status: "available",
			Architecture: want.Architecture, ImageSize: 0.5, DiskSize: 5,
		})
		return nil
	}}
}

func (m *Model) record(p *cloud.Plan, c cloud.Change) []call {
	want, err := find(p.Desired.DNSRecords, func(r schemas.InfraDNSRecord) bool { return cloud.RecordName(r) == c.Name })
	if c.Action == cloud.Delete {
		return []call{func() error { return m.deleteRecord(c.Name) }}
	}
	return []call{func() error {
		if err != nil {
			return err
		}
		values := cloud.RecordValues(want, &m.Observed)
		if len(values) == 0 {
			return fmt.Errorf("invalid_input: no values")
		}
		for i := range m.Observed.Zones {
			z := &m.Observed.Zones[i]
			if z.Name != want.Zone {
				continue
			}
			z.RRSets = slices.DeleteFunc(z.RRSets, func(s cloud.RRSet) bool { return s.Name == want.Name && s.Type == want.Type })
			z.RRSets = append(z.RRSets, cloud.RRSet{Name: want.Name, Type: want.Type, TTL: want.TTL, Values: values, Labels: cloud.RecordLabels(p.Cluster)})
			return nil
		}
		return fmt.Errorf("not_found: zone %s", want.Zone)
	}}
}

func (m *Model) deleteRecord(name string) error {
	for i := range m.Observed.Zones {
		z := &m.Observed.Zones[i]
		before := len(z.RRSets)
		z.RRSets = slices.DeleteFunc(z.RRSets, func(s cloud.RRSet) bool {
			return cloud.RecordName(schemas.InfraDNSRecord{Name: s.Name, Zone: z.Name, Type: s.Type}) == name
		})
		if len(z.RRSets) < before {
			return nil
		}
	}
	return fmt.Errorf("not_found: %s", name)
}
