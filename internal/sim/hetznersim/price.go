package hetznersim

import "fmt"

// vatPercent is the tax on net prices.
const vatPercent = 19

// price is what something costs in a location, as the API shows it.
type price struct {
	Location        string `json:"location"`
	Hourly          amount `json:"price_hourly"`
	Monthly         amount `json:"price_monthly"`
	IncludedTraffic int64  `json:"included_traffic"` // in bytes
	PerTB           amount `json:"price_per_tb_traffic"`
}

// amount is a price in euros.
type amount struct {
	Net   string `json:"net"`
	Gross string `json:"gross"`
}

// euros makes an amount of hundredths of a cent, net.
func euros(net int) amount {
	gross := net * (100 + vatPercent) // 1e-6 euros
	return amount{
		Net:   fmt.Sprintf("%d.%04d000000", net/10000, net%10000),
		Gross: fmt.Sprintf("%d.%06d0000000000", gross/1000000, gross%1000000),
	}
}

// hoursPaid is after how many hours in a month the monthly price is reached.
const hoursPaid = 624

const tib = int64(1) << 40

// priceIn is a price in a location that costs so many cents a month in Europe.
// It is a fifth more elsewhere, with less traffic.
func priceIn(location string, cents int) price {
	p := price{Location: location, IncludedTraffic: 20 * tib, PerTB: euros(10000)}
	switch location {
	case "ash", "hil":
		p.IncludedTraffic, cents = tib, cents+cents/5
	case "sin":
		p.IncludedTraffic, p.PerTB, cents = tib/2, euros(74000), cents+cents/5
	}
	p.Monthly = euros(cents * 100)
	p.Hourly = euros((cents*100 + hoursPaid - 1) / hoursPaid)
	return p
}
