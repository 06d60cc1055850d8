package cloud

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
)

func locationFrom(l *hcloud.Location) cloudplan.Location {
	return cloudplan.Location{ID: l.ID, Name: l.Name, NetworkZone: string(l.NetworkZone)}
}

func serverTypeFrom(t *hcloud.ServerType) cloudplan.ServerType {
	return cloudplan.ServerType{
		ID:           t.ID,
		Name:         t.Name,
		Cores:        t.Cores,
		Memory:       float64(t.Memory),
		Disk:         t.Disk,
		Architecture: string(t.Architecture),
		Locations:    convert(t.Locations, typeLocationFrom),
		Prices: convert(t.Pricings, func(p hcloud.ServerTypeLocationPricing) cloudplan.TypePrice {
			return cloudplan.TypePrice{
				Location:        locationName(p.Location),
				Monthly:         priceFrom(p.Monthly),
				Hourly:          priceFrom(p.Hourly),
				IncludedTraffic: p.IncludedTraffic,
				PerTBTraffic:    priceFrom(p.PerTBTraffic),
			}
		}),
	}
}

func typeLocationFrom(l hcloud.ServerTypeLocation) cloudplan.TypeLocation {
	out := cloudplan.TypeLocation{Name: locationName(l.Location), Available: l.Available, Recommended: l.Recommended}
	if l.Deprecation != nil {
		out.DeprecationAnnounced, out.UnavailableAfter = l.Deprecation.Announced, l.Deprecation.UnavailableAfter
	}
	return out
}

func loadBalancerTypeFrom(t *hcloud.LoadBalancerType) cloudplan.LoadBalancerType {
	return cloudplan.LoadBalancerType{
		ID:          t.ID,
		Name:        t.Name,
		MaxServices: t.MaxServices,
		MaxTargets:  t.MaxTargets,
		Prices: convert(t.Pricings, func(p hcloud.LoadBalancerTypeLocationPricing) cloudplan.TypePrice {
			return cloudplan.TypePrice{
				Location:        locationName(p.Location),
				Monthly:         priceFrom(p.Monthly),
				Hourly:          priceFrom(p.Hourly),
				IncludedTraffic: p.IncludedTraffic,
				PerTBTraffic:    priceFrom(p.PerTBTraffic),
			}
		}),
	}
}

func priceFrom(p hcloud.Price) cloudplan.Price { return cloudplan.Price{Net: p.Net, Gross: p.Gross} }

func pricingFrom(p hcloud.Pricing) cloudplan.Pricing {
	out := cloudplan.Pricing{
		Currency:     p.Currency,
		VATRate:      p.VATRate,
		Image:        priceFrom(p.Image.PerGBMonth),
		Volume:       priceFrom(p.Volume.PerGBMonthly),
		ServerBackup: p.ServerBackup.Percentage,
	}
	for _, t := range p.FloatingIPs {
		for _, at := range t.Pricings {
			out.FloatingIPs = append(out.FloatingIPs, cloudplan.AddressPrice{
				Type: string(t.Type), Location: locationName(at.Location), Monthly: priceFrom(at.Monthly),
			})
		}
	}
	for _, t := range p.PrimaryIPs {
		for _, at := range t.Pricings {
			out.PrimaryIPs = append(out.PrimaryIPs, cloudplan.AddressPrice{
				Type: t.Type, Location: at.Location, Monthly: cloudplan.Price{Net: at.Monthly.Net, Gross: at.Monthly.Gross},
			})
		}
	}
	return out
}
