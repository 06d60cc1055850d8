package cloud

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/plan"
)

func locationFrom(l *hcloud.Location) plan.Location {
	return plan.Location{ID: l.ID, Name: l.Name, NetworkZone: string(l.NetworkZone)}
}

func serverTypeFrom(t *hcloud.ServerType) plan.ServerType {
	return plan.ServerType{
		ID:           t.ID,
		Name:         t.Name,
		Cores:        t.Cores,
		Memory:       float64(t.Memory),
		Disk:         t.Disk,
		Architecture: string(t.Architecture),
		Locations:    convert(t.Locations, typeLocationFrom),
		Prices: convert(t.Pricings, func(p hcloud.ServerTypeLocationPricing) plan.TypePrice {
			return plan.TypePrice{
				Location:        locationName(p.Location),
				Monthly:         priceFrom(p.Monthly),
				Hourly:          priceFrom(p.Hourly),
				IncludedTraffic: p.IncludedTraffic,
				PerTBTraffic:    priceFrom(p.PerTBTraffic),
			}
		}),
	}
}

func typeLocationFrom(l hcloud.ServerTypeLocation) plan.TypeLocation {
	out := plan.TypeLocation{Name: locationName(l.Location), Available: l.Available, Recommended: l.Recommended}
	if l.Deprecation != nil {
		out.DeprecationAnnounced, out.UnavailableAfter = l.Deprecation.Announced, l.Deprecation.UnavailableAfter
	}
	return out
}

func loadBalancerTypeFrom(t *hcloud.LoadBalancerType) plan.LoadBalancerType {
	return plan.LoadBalancerType{
		ID:          t.ID,
		Name:        t.Name,
		MaxServices: t.MaxServices,
		MaxTargets:  t.MaxTargets,
		Prices: convert(t.Pricings, func(p hcloud.LoadBalancerTypeLocationPricing) plan.TypePrice {
			return plan.TypePrice{
				Location:        locationName(p.Location),
				Monthly:         priceFrom(p.Monthly),
				Hourly:          priceFrom(p.Hourly),
				IncludedTraffic: p.IncludedTraffic,
				PerTBTraffic:    priceFrom(p.PerTBTraffic),
			}
		}),
	}
}

func priceFrom(p hcloud.Price) plan.Price { return plan.Price{Net: p.Net, Gross: p.Gross} }

func pricingFrom(p hcloud.Pricing) plan.Pricing {
	out := plan.Pricing{
		Currency:     p.Currency,
		VATRate:      p.VATRate,
		Image:        priceFrom(p.Image.PerGBMonth),
		Volume:       priceFrom(p.Volume.PerGBMonthly),
		ServerBackup: p.ServerBackup.Percentage,
	}
	for _, t := range p.FloatingIPs {
		for _, at := range t.Pricings {
			out.FloatingIPs = append(out.FloatingIPs, plan.AddressPrice{
				Type: string(t.Type), Location: locationName(at.Location), Monthly: priceFrom(at.Monthly),
			})
		}
	}
	for _, t := range p.PrimaryIPs {
		for _, at := range t.Pricings {
			out.PrimaryIPs = append(out.PrimaryIPs, plan.AddressPrice{
				Type: t.Type, Location: at.Location, Monthly: plan.Price{Net: at.Monthly.Net, Gross: at.Monthly.Gross},
			})
		}
	}
	return out
}
