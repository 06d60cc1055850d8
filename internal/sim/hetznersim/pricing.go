package hetznersim

import "net/http"

// monthly is what an address costs a month in a location.
type monthly struct {
	Location string  `json:"location"`
	Hourly   *amount `json:"price_hourly,omitempty"`
	Monthly  amount  `json:"price_monthly"`
}

// Prices in hundredths of a cent, net, a month.
const (
	primaryIPv4Price = 5000
	floatingIP4Price = 30000
	floatingIP6Price = 10000
	imageGBPrice     = 110
	volumeGBPrice    = 440
)

func pricingRoutes() []route { return []route{{http.MethodGet, "/pricing", getPricing}} }

func getPricing(c *call) (reply, error) {
	if c.st.cat.pricing != nil {
		return ok(obj{"pricing": c.st.cat.pricing})
	}
	var types, lbTypes []obj
	for _, t := range c.st.cat.types {
		types = append(types, obj{"id": t.ID, "name": t.Name, "prices": t.Prices})
	}
	for _, t := range c.st.cat.lbTypes {
		lbTypes = append(lbTypes, obj{"id": t.ID, "name": t.Name, "prices": t.Prices})
	}
	return ok(obj{"pricing": obj{
		"currency": "EUR",
		"vat_rate": "19.000000",
		"primary_ips": []obj{
			{"type": "ipv4", "prices": c.st.cat.addressPrices(primaryIPv4Price, true)},
			{"type": "ipv6", "prices": c.st.cat.addressPrices(0, true)},
		},
		"floating_ips": []obj{
			{"type": "ipv4", "prices": c.st.cat.addressPrices(floatingIP4Price, false)},
			{"type": "ipv6", "prices": c.st.cat.addressPrices(floatingIP6Price, false)},
		},
		"floating_ip":         obj{"price_monthly": euros(floatingIP4Price)},
		"image":               obj{"price_per_gb_month": euros(imageGBPrice)},
		"volume":              obj{"price_per_gb_month": euros(volumeGBPrice)},
		"server_backup":       obj{"percentage": "20.0000000000"},
		"server_types":        types,
		"load_balancer_types": lbTypes,
	}})
}

// addressPrices are the same in all locations.
func (c *catalogue) addressPrices(net int, hourly bool) (all []monthly) {
	for _, l := range c.locations {
		m := monthly{Location: l.Name, Monthly: euros(net)}
		if hourly {
			h := euros((net + hoursPaid - 1) / hoursPaid)
			m.Hourly = &h
		}
		all = append(all, m)
	}
	return all
}
