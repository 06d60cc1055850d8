package cloud

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

func networkFrom(n *hcloud.Network) cloudplan.Network {
	return cloudplan.Network{
		Meta:                  meta(n.ID, n.Name, n.Labels, n.Created),
		IPRange:               cidr(n.IPRange),
		Protected:             n.Protection.Delete,
		ExposeRoutesToVSwitch: n.ExposeRoutesToVSwitch,
		Subnets: convert(n.Subnets, func(s hcloud.NetworkSubnet) cloudplan.Subnet {
			return cloudplan.Subnet{
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

func firewallFrom(f *hcloud.Firewall) cloudplan.Firewall {
	out := cloudplan.Firewall{
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

func zoneFrom(z *hcloud.Zone) cloudplan.Zone {
	return cloudplan.Zone{Meta: meta(z.ID, z.Name, z.Labels, z.Created), TTL: z.TTL}
}

func rrsetFrom(r *hcloud.ZoneRRSet) cloudplan.RRSet {
	out := cloudplan.RRSet{
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
