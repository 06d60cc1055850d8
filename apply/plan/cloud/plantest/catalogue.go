package plantest

import (
	"fmt"
	"time"

	"github.com/talosgen/talosgen/apply/plan/cloud"
)

// Start is the time at which models start.
var Start = time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC)

// Names of things that every empty project of [Empty] has.
const (
	SSHKey = "my-key"
	Zone   = "example.com"
	Debian = "debian-13"
)

// Empty is a project with a catalogue, Hetzner's images, an SSH key and a DNS
// zone, and nothing else.
func Empty() cloud.Observed {
	return cloud.Observed{
		Time:      Start,
		Catalogue: Catalogue(),
		SSHKeys:   []cloud.SSHKey{{Meta: cloud.Meta{ID: 11, Name: SSHKey}, Fingerprint: "b7:2f:30"}},
		Images: []cloud.Image{
			{Meta: cloud.Meta{ID: 21, Name: Debian}, Type: "system", Status: "available", Architecture: "x86", DiskSize: 5},
			{Meta: cloud.Meta{ID: 22, Name: Debian}, Type: "system", Status: "available", Architecture: "arm", DiskSize: 5},
		},
		Zones: []cloud.Zone{{Meta: cloud.Meta{ID: 31, Name: Zone}, TTL: 3600}},
	}
}

// Catalogue is a small catalogue, like Hetzner's. The type cpx41 is sold out in
// fsn1, cx11 is no longer sold.
func Catalogue() cloud.Catalogue {
	c := cloud.Catalogue{
		Locations: []cloud.Location{
			{ID: 1, Name: "fsn1", NetworkZone: "eu-central"},
			{ID: 2, Name: "nbg1", NetworkZone: "eu-central"},
			{ID: 3, Name: "hel1", NetworkZone: "eu-central"},
			{ID: 4, Name: "ash", NetworkZone: "us-east"},
		},
		Pricing: cloud.Pricing{
			Currency: "EUR", VATRate: "19.000000", ServerBackup: "20.0000000000",
			Image: price(11), Volume: price(44),
		},
	}
	for i, t := range []struct {
		name         string
		cores        int
		memory       float64
		disk         int
		architecture string
		cents        int
	}{
		{"cx11", 1, 2, 20, "x86", 329}, {"cpx11", 2, 2, 40, "x86", 385}, {"cpx21", 3, 4, 80, "x86", 755},
		{"cpx31", 4, 8, 160, "x86", 1310}, {"cpx41", 8, 16, 240, "x86", 2449}, {"ccx23", 4, 16, 160, "x86", 2449},
		{"cax11", 2, 4, 40, "arm", 379}, {"cax21", 4, 8, 80, "arm", 649},
	} {
		s := cloud.ServerType{ID: int64(i + 1), Name: t.name, Cores: t.cores, Memory: t.memory, Disk: t.disk, Architecture: t.architecture}
		for _, l := range c.Locations {
			if l.Name == "ash" && t.architecture == "arm" {
				continue
			}
			offer := cloud.TypeLocation{Name: l.Name, Available: !(t.name == "cpx41" && l.Name == "fsn1")}
			if t.name == "cx11" {
				offer.Available, offer.UnavailableAfter = false, Start.AddDate(-1, 0, 0)
			}
			s.Locations = append(s.Locations, offer)
		}
		s.Prices = typePrices(t.cents*100, c.Locations)
		c.ServerTypes = append(c.ServerTypes, s)
	}
	for i, cents := range []int{539, 1640} {
		c.LoadBalancerTypes = append(c.LoadBalancerTypes, cloud.LoadBalancerType{
			ID: int64(i + 1), Name: fmt.Sprintf("lb%d1", i+1), MaxServices: 5 + 10*i, MaxTargets: 25 + 50*i,
			Prices: typePrices(cents*100, c.Locations),
		})
	}
	for _, l := range c.Locations {
		c.Pricing.FloatingIPs = append(c.Pricing.FloatingIPs,
			cloud.AddressPrice{Type: "ipv4", Location: l.Name, Monthly: price(30000)}, cloud.AddressPrice{Type: "ipv6", Location: l.Name, Monthly: price(10000)})
		c.Pricing.PrimaryIPs = append(c.Pricing.PrimaryIPs,
			cloud.AddressPrice{Type: "ipv4", Location: l.Name, Monthly: price(5000)}, cloud.AddressPrice{Type: "ipv6", Location: l.Name, Monthly: price(0)})
	}
	return c
}

// includedTraffic is 20 TB, as Hetzner counts them.
const includedTraffic = 20 << 40

func typePrices(amount int, locations []cloud.Location) []cloud.TypePrice {
	var prices []cloud.TypePrice
	for _, l := range locations {
		prices = append(prices, cloud.TypePrice{Location: l.Name, Monthly: price(amount), IncludedTraffic: includedTraffic, PerTBTraffic: price(10000)})
	}
	return prices
}

// price makes a price of ten thousandths, and adds 19 % of it.
func price(net int) cloud.Price {
	gross := net * 119
	return cloud.Price{
		Net:   fmt.Sprintf("%d.%04d000000", net/10000, net%10000),
		Gross: fmt.Sprintf("%d.%06d0000", gross/1000000, gross%1000000),
	}
}
