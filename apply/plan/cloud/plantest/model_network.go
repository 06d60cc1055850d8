package plantest

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

func (m *Model) network(p *cloud.Plan, c cloud.Change) []call {
	o, want := &m.Observed, p.Desired.Network
	switch c.Action {
	case cloud.Create:
		return []call{func() error {
			_, err := create(m, &o.Networks, cloud.Network{Meta: cloud.Meta{Name: want.Name, Labels: labelsOf(want.Labels)},
				IPRange: want.IPRange, ExposeRoutesToVSwitch: want.ExposeRoutesToVSwitch})
			return err
		}, func() error {
			n, err := byName(o.Networks, want.Name)
			if err == nil {
				n.Protected = want.Protected
			}
			return err
		}}
	case cloud.Delete:
		return m.unprotected(c, func() *bool {
			if n, err := byID(o.Networks, c.ID); err == nil {
				return &n.Protected
			}
			return nil
		}, func() error {
			if n, err := byID(o.Networks, c.ID); err == nil && len(n.Servers)+len(n.LoadBalancers) > 0 {
				return fmt.Errorf("something is attached")
			}
			return remove(&o.Networks, c.ID)
		})
	}
	var calls []call
	for _, name := range fieldsOf(c) {
		calls = append(calls, func() error {
			n, err := byID(o.Networks, c.ID)
			if err != nil {
				return err
			}
			switch name {
			case cloud.FieldIPRange:
				n.IPRange = want.IPRange
			case cloud.FieldExpose:
				n.ExposeRoutesToVSwitch = want.ExposeRoutesToVSwitch
			case cloud.FieldLabels:
				setLabels(&n.Meta, want.Labels)
			case cloud.FieldProtected:
				n.Protected = want.Protected
			}
			return nil
		})
	}
	return calls
}

// unprotected deletes something, whose protection is lifted before if the change
// says so.
func (m *Model) unprotected(c cloud.Change, protected func() *bool, deletion call) []call {
	var calls []call
	if c.LiftProtection {
		calls = append(calls, func() error {
			if p := protected(); p != nil {
				*p = false
			}
			return nil
		})
	}
	return append(calls, func() error {
		if p := protected(); p != nil && *p {
			return fmt.Errorf("protected")
		}
		return deletion()
	})
}

func (m *Model) subnet(p *cloud.Plan, c cloud.Change) []call {
	same := func(s cloud.Subnet) bool { return s.IPRange == c.Name }
	deletion := func() error {
		n, err := m.networkOf(p)
		if err != nil {
			return err
		}
		if m.used(n.ID, c.Name) {
			return fmt.Errorf("service_error: cannot remove subnet because servers are attached to it")
		}
		n.Subnets = slices.DeleteFunc(n.Subnets, same)
		return nil
	}
	creation := func() error {
		n, err := m.networkOf(p)
		if err != nil {
			return err
		}
		want, err := find(p.Desired.Network.Subnets, func(s schemas.InfraSubnet) bool { return s.IPRange == c.Name })
		if err != nil {
			return err
		}
		for _, s := range n.Subnets {
			if netip.MustParsePrefix(s.IPRange).Overlaps(netip.MustParsePrefix(c.Name)) {
				return fmt.Errorf("invalid_input: overlaps %s", s.IPRange)
			}
		}
		n.Subnets = append(n.Subnets, cloud.Subnet{Type: want.Type, IPRange: want.IPRange, NetworkZone: want.NetworkZone, VSwitchID: want.VSwitchID})
		return nil
	}
	switch c.Action {
	case cloud.Create:
		return []call{creation}
	case cloud.Delete:
		return []call{deletion}
	default:
		return []call{deletion, creation}
	}
}

// used reports whether something has an address in a range of a network.
func (m *Model) used(network int64, ipRange string) bool {
	prefix := netip.MustParsePrefix(ipRange)
	in := func(nets []cloud.PrivateNet) bool {
		return slices.ContainsFunc(nets, func(n cloud.PrivateNet) bool {
			return n.Network == network && prefix.Contains(netip.MustParseAddr(n.IP))
		})
	}
	return slices.ContainsFunc(m.Observed.Servers, func(s cloud.Server) bool { return in(s.PrivateNets) }) ||
		slices.ContainsFunc(m.Observed.LoadBalancers, func(b cloud.LoadBalancer) bool { return in(b.PrivateNets) })
}

func (m *Model) route(p *cloud.Plan, c cloud.Change) []call {
	deletion := func() error {
		n, err := m.networkOf(p)
		if err == nil {
			n.Routes = slices.DeleteFunc(n.Routes, func(r schemas.InfraRoute) bool { return r.Destination == c.Name })
		}
		return err
	}
	creation := func() error {
		n, err := m.networkOf(p)
		if err != nil {
			return err
		}
		want, err := find(p.Desired.Network.Routes, func(r schemas.InfraRoute) bool { return r.Destination == c.Name })
		if err == nil {
			n.Routes = append(n.Routes, want)
		}
		return err
	}
	switch c.Action {
	case cloud.Create:
		return []call{creation}
	case cloud.Delete:
		return []call{deletion}
	default:
		return []call{deletion, creation}
	}
}

func (m *Model) firewall(p *cloud.Plan, c cloud.Change) []call {
	o := &m.Observed
	want, _ := find(p.Desired.Firewalls, func(f schemas.InfraFirewall) bool {
		return f.Name == c.Name || f.ExistingID != 0 && f.ExistingID == c.ID
	})
	switch c.Action {
	case cloud.Create:
		return []call{func() error {
			_, err := create(m, &o.Firewalls, cloud.Firewall{Meta: cloud.Meta{Name: want.Name, Labels: labelsOf(want.Labels)},
				Rules: want.Rules, Selectors: []string{want.ApplyTo}})
			return err
		}}
	case cloud.Delete:
		return []call{func() error {
			f, err := byID(o.Firewalls, c.ID)
			if err == nil {
				f.Selectors, f.Servers = nil, nil
			}
			return err
		}, func() error { return remove(&o.Firewalls, c.ID) }}
	}
	var calls []call
	for _, name := range fieldsOf(c) {
		calls = append(calls, func() error {
			f, err := byID(o.Firewalls, c.ID)
			if err != nil {
				return err
			}
			switch name {
			case cloud.FieldRules:
				f.Rules = want.Rules
			case cloud.FieldLabels:
				setLabels(&f.Meta, want.Labels)
			case cloud.FieldApplyTo:
				selectors(f, c)
			}
			return nil
		})
	}
	return calls
}

func (m *Model) group(p *cloud.Plan, c cloud.Change) []call {
	o := &m.Observed
	want, _ := find(p.Desired.PlacementGroups, func(g schemas.InfraPlacementGroup) bool { return g.Name == c.Name })
	switch c.Action {
	case cloud.Create:
		return []call{func() error {
			_, err := create(m, &o.PlacementGroups, cloud.PlacementGroup{Meta: cloud.Meta{Name: want.Name, Labels: labelsOf(want.Labels)}, Type: "spread"})
			return err
		}}
	case cloud.Delete:
		return []call{func() error {
			if g, err := byID(o.PlacementGroups, c.ID); err == nil && len(g.Servers) > 0 {
				return fmt.Errorf("it has servers")
			}
			return remove(&o.PlacementGroups, c.ID)
		}}
	}
	return []call{func() error {
		g, err := byID(o.PlacementGroups, c.ID)
		if err == nil {
			setLabels(&g.Meta, want.Labels)
		}
		return err
	}}
}

// selectors adds and removes label selectors of a firewall.
func selectors(f *cloud.Firewall, c cloud.Change) {
	for _, d := range c.Fields {
		switch {
		case d.Name != cloud.FieldApplyTo:
		case d.Edit == cloud.Remove:
			f.Selectors = slices.DeleteFunc(f.Selectors, func(s string) bool { return s == d.Item })
		default:
			f.Selectors = append(f.Selectors, d.Item)
		}
	}
}
