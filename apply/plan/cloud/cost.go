package cloud

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// Cost is the price of a month, before and after the changes: of what belongs
// to the cluster, and of what its parts made. Traffic beyond what is included
// comes on top, and so does what is made later.
type Cost struct {
	Currency string     `json:"currency"`
	VATRate  string     `json:"vatRate"` // in percent
	Lines    []CostLine `json:"lines,omitempty"`
	Before   Price      `json:"before"`
	After    Price      `json:"after"`
	// The price when every pool of the autoscaler has the most servers that it may
	// have; nothing if that is no more than After, or not known.
	Most Price `json:"most,omitzero"`
	// Outgoing traffic in a month that costs nothing, after the changes, in
	// bytes.
	IncludedTraffic uint64 `json:"includedTraffic"`
	// What has no known price: the sums are without it.
	Unknown []string `json:"unknown,omitempty"`
}

// CostLine is the price of one object for a month; without net and gross if the
// object is not there.
type CostLine struct {
	Key    plan.Key `json:"key"`
	What   string   `json:"what"` // cpx31 in fsn1, IPv4 address, 10 GB volume
	Before Price    `json:"before,omitzero"`
	After  Price    `json:"after,omitzero"`
}

// costs collects what things cost.
type costs struct {
	*planner
	cost          Cost
	before, after amount
}

// state says when something costs: before the changes, after them.
type state struct{ before, after bool }

// sum is the cost of all that the cluster owns, and of what the plan creates.
func (c *costs) sum() Cost {
	pricing := c.observed.Catalogue.Pricing
	c.cost, c.before, c.after = Cost{Currency: pricing.Currency, VATRate: pricing.VATRate}, none(), none()
	for _, s := range c.observed.Servers {
		if c.owner.servers[s.ID] || c.adopted(KindServer, s.ID) {
			c.server(&s)
		}
	}
	for _, ch := range c.plan.Changes {
		if ch.Kind == KindServer && ch.Action == Create && !c.surge(ch.Name) {
			c.newServer(&ch)
		}
	}
	c.balancers()
	c.floatingIPs()
	c.volumes()
	c.images()
	c.autoscaled()
	sorting.By(c.cost.Lines, func(a, b CostLine) int {
		return cmp.Or(natural.Compare(string(a.Key), string(b.Key)), cmp.Compare(a.What, b.What))
	})
	slices.Sort(c.cost.Unknown)
	c.cost.Unknown = slices.Compact(c.cost.Unknown)
	c.cost.Before, c.cost.After = c.before.price(), c.after.price()
	return c.cost
}

// position is something that is paid for. Without a price it is not known.
type position struct {
	what    string
	price   Price
	traffic uint64 // that is included, in bytes
}

// line adds a position at the times that it is paid.
func (c *costs) line(key plan.Key, p position, when state) {
	a, ok := amountOf(p.price)
	if !ok {
		c.cost.Unknown = append(c.cost.Unknown, p.what)
		return
	}
	l := CostLine{Key: key, What: p.what}
	if when.before {
		l.Before, c.before = a.price(), c.before.plus(a)
	}
	if when.after {
		l.After, c.after = a.price(), c.after.plus(a)
		c.cost.IncludedTraffic += p.traffic
	}
	c.cost.Lines = append(c.cost.Lines, l)
}

// server adds a server that is there, and what becomes of it.
func (c *costs) server(s *Server) {
	key := KeyOf(KindServer, s.Name)
	before := server{s.Type, s.Location, s.Backups, s.PublicIPv4.IP != ""}
	after := before
	switch change := c.change(KindServer, s.ID); {
	case change == nil:
	case change.Action == Delete:
		after = server{}
	case change.Action == Replace:
		after = c.planned(change)
	default:
		after = c.updated(before, change)
	}
	was, will := c.positions(before), c.positions(after)
	for _, p := range was {
		c.line(key, p, state{true, slices.Contains(will, p)})
	}
	for _, p := range will {
		if !slices.Contains(was, p) {
			c.line(key, p, state{after: true})
		}
	}
}

// server is what the price of a server depends on.
type server struct {
	kind, location string
	backups, ipv4  bool
}

// updated is what a server that stays will be.
func (c *costs) updated(s server, change *Change) server {
	will := c.planned(change)
	if change.changes(FieldType) {
		s.kind = will.kind
	}
	if change.changes(FieldBackups) {
		s.backups = will.backups
	}
	if change.changes(FieldPublicIPv4) {
		s.ipv4 = will.ipv4
	}
	return s
}

// surge reports whether a server is there for a time only: no month is paid for it.
func (c *costs) surge(name string) bool {
	return slices.ContainsFunc(c.desired.Servers, func(s schemas.InfraServer) bool { return s.Surge && s.Name == name })
}

func (c *costs) newServer(change *Change) {
	for _, p := range c.positions(c.planned(change)) {
		c.line(change.Key, p, state{after: true})
	}
}

// planned is what a server will be by a change, if the first candidate works.
func (c *costs) planned(change *Change) server {
	i := slices.IndexFunc(c.desired.Servers, func(w schemas.InfraServer) bool { return w.Name == change.Name })
	if i < 0 {
		return server{}
	}
	will := server{backups: c.desired.Servers[i].Backups, ipv4: c.desired.Servers[i].PublicIPv4}
	if len(change.Candidates) > 0 {
		will.kind, will.location = change.Candidates[0].Type, change.Candidates[0].Location
	}
	return will
}

// positions are what a server costs.
func (c *costs) positions(s server) []position {
	if s.kind == "" {
		return nil
	}
	p := position{what: fmt.Sprintf("%s in %s", s.kind, s.location)}
	if t := c.observed.Catalogue.typeOf(s.kind); t != nil {
		p.price, p.traffic = typePrice(t.Prices, s.location)
	}
	list := []position{p}
	pricing := c.observed.Catalogue.Pricing
	if s.backups {
		list = append(list, position{what: "backups of " + p.what, price: percentOf(p.price, pricing.ServerBackup)})
	}
	if s.ipv4 {
		list = append(list, position{what: "IPv4 address in " + s.location, price: addressPrice(pricing.PrimaryIPs, ipv4, s.location)})
	}
	return list
}

// percentOf is a part of a price; no price if one of the texts is none.
func percentOf(p Price, percent string) Price {
	part, ok := new(big.Rat).SetString(percent)
	a, known := amountOf(p)
	if !ok || !known {
		return Price{}
	}
	return a.times(part.Quo(part, big.NewRat(100, 1))).price()
}

// typePrice is the price of a type in a location, and the traffic that comes
// with it.
func typePrice(prices []TypePrice, location string) (Price, uint64) {
	i := slices.IndexFunc(prices, func(p TypePrice) bool { return p.Location == location })
	if i < 0 {
		return Price{}, 0
	}
	return prices[i].Monthly, prices[i].IncludedTraffic
}

func addressPrice(prices []AddressPrice, ipType, location string) Price {
	i := slices.IndexFunc(prices, func(p AddressPrice) bool { return p.Type == ipType && p.Location == location })
	if i < 0 {
		return Price{}
	}
	return prices[i].Monthly
}
