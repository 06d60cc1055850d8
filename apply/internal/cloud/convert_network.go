package cloud

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

func networkFrom(n *hcloud.Network) plan.Network {
	return plan.Network{
		Meta:                  meta(n.ID, n.Name, n.Labels, n.Created),
		IPRange:               cidr(n.IPRange),
		Protected:             n.Protection.Delete,
		ExposeRoutesToVSwitch: n.ExposeRoutesToVSwitch,
		Subnets: convert(n.Subnets, func(s hcloud.NetworkSubnet) plan.Subnet {
			return plan.Subnet{
				Type:        string(s.Type),
				IPRange:     cidr(s.IPRange),
				NetworkZone: string(s.NetworkZone),
				Gateway:     address(s.Gateway),
				VSwitchID:   s.VSwitchID,
			}
		}),
		Routes: convert(n.Routes, func(r hcloud.NetworkRoute) schemas.InfraRoute {
			return schemas.InfraRoute{Destination: cidr(r.Destination), Gateway: address(r.Gateway)}
		}),
		Servers:       convert(n.Servers, func(s *hcloud.Server) int64 { return s.ID }),
		LoadBalancers: convert(n.LoadBalancers, func(l *hcloud.LoadBalancer) int64 { return l.ID }),
	}
}

func firewallFrom(f *hcloud.Firewall) plan.Firewall {
	out := plan.Firewall{
		Meta:  meta(f.ID, f.Name, f.Labels, f.Created),
		Rules: convert(f.Rules, ruleFrom),
	}
	for _, r := range f.AppliedTo {
		switch {
		case r.LabelSelector != nil:
			out.Selectors = append(out.Selectors, r.LabelSelector.Selector)
		case r.Server != nil:
			out.Servers = append(out.Servers, r.Server.ID)
		}
	}
	return out
}

func ruleFrom(r hcloud.FirewallRule) schemas.InfraRule {
	out := schemas.InfraRule{Direction: string(r.Direction), Protocol: string(r.Protocol)}
	if r.Description != nil {
		out.Description = *r.Description
	}
	if r.Port != nil {
		out.Port = *r.Port
	}
	for _, n := range r.SourceIPs {
		out.SourceIPs = append(out.SourceIPs, n.String())
	}
	for _, n := range r.DestinationIPs {
		out.DestinationIPs = append(out.DestinationIPs, n.String())
	}
	return out
}

func zoneFrom(z *hcloud.Zone) plan.Zone {
	return plan.Zone{Meta: meta(z.ID, z.Name, z.Labels, z.Created), TTL: z.TTL}
}

func rrsetFrom(r *hcloud.ZoneRRSet) plan.RRSet {
	out := plan.RRSet{
		Name:      r.Name,
		Type:      string(r.Type),
		Values:    convert(r.Records, func(r hcloud.ZoneRRSetRecord) string { return r.Value }),
		Protected: r.Protection.Change,
	}
	if len(r.Labels) > 0 {
		out.Labels = r.Labels
	}
	if r.TTL != nil {
		out.TTL = *r.TTL
	}
	return out
}
