package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

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
	// Outgoing traffic in a month that costs nothing, after the changes, in
	// bytes.
	IncludedTraffic uint64 `json:"includedTraffic"`
	// What has no known price: the sums are without it.
	Unknown []string `json:"unknown,omitempty"`
}

// CostLine is the price of one object for a month; without net and gross if the
// object is not there.
type CostLine struct {
	Key    Key    `json:"key"`
	What   string `json:"what"` // cpx31 in fsn1, IPv4 address, 10 GB volume
	Before Price  `json:"before,omitzero"`
	After  Price  `json:"after,omitzero"`
}

// costs collects what things cost.
type costs struct {
	m             *maker
	cost          Cost
	before, after amount
}

// state says when something costs: before the changes, after them.
type state struct{ before, after bool }

func (m *maker) cost() {
	p := m.observed.Catalogue.Pricing
	c := &costs{m: m, cost: Cost{Currency: p.Currency, VATRate: p.VATRate}, before: none(), after: none()}
	for _, s := range m.observed.Servers {
		if m.owner.servers[s.ID] || m.adopted(KindServer, s.ID) {
			c.server(&s)
		}
	}
	for _, ch := range m.plan.Changes {
		if ch.Kind == KindServer && ch.Action == Create {
			c.newServer(&ch)
		}
	}
	c.balancers()
	c.floatingIPs()
	c.volumes()
	c.images()
	slices.SortStableFunc(c.cost.Lines, func(a, b CostLine) int {
		return cmp.Or(natural(string(a.Key), string(b.Key)), cmp.Compare(a.What, b.What))
	})
	slices.Sort(c.cost.Unknown)
	c.cost.Unknown = slices.Compact(c.cost.Unknown)
	c.cost.Before, c.cost.After = c.before.price(), c.after.price()
	m.plan.Cost = c.cost
}

// adopted reports whether an object becomes the cluster's.
func (m *maker) adopted(kind Kind, id int64) bool { return m.used[KeyOf(kind, idText(id))] }

// change finds the change of an object that is there.
func (m *maker) change(kind Kind, id int64) *Change {
	i := slices.IndexFunc(m.plan.Changes, func(c Change) bool { return c.Kind == kind && c.ID == id && id != 0 })
	if i < 0 {
		return nil
	}
	return &m.plan.Changes[i]
}

// line adds a price at the times that it is paid.
func (c *costs) line(key Key, what string, price Price, when state) {
	a, ok := amountOf(price)
	if !ok {
		c.cost.Unknown = append(c.cost.Unknown, what)
		return
	}
	l := CostLine{Key: key, What: what}
	if when.before {
		l.Before, c.before = a.price(), c.before.plus(a)
	}
	if when.after {
		l.After, c.after = a.price(), c.after.plus(a)
	}
	c.cost.Lines = append(c.cost.Lines, l)
}

// server adds a server that is there, and what becomes of it.
func (c *costs) server(s *Server) {
	key := KeyOf(KindServer, s.Name)
	change := c.m.change(KindServer, s.ID)
	after := server{s.Type, s.Location, s.Backups, s.PublicIPv4.IP != ""}
	before := after
	switch {
	case change == nil:
	case change.Action == Delete:
		c.serverLines(key, before, state{before: true})
		return
	case change.Action == Replace:
		after = c.planned(change)
	default:
		after = after.with(change)
	}
	c.serverLines(key, before, state{true, after == before})
	if after != before {
		c.serverLines(key, after, state{after: true})
	}
}

// server is what the price of a server depends on.
type server struct {
	kind, location string
	backups, ipv4  bool
}

func (s server) with(change *Change) server {
	for _, f := range change.Fields {
		switch f.Name {
		case FieldType:
			s.kind = f.To
		case FieldBackups:
			s.backups = f.To == "on"
		case FieldPublicIPv4:
			s.ipv4 = f.To != ""
		}
	}
	return s
}

func (c *costs) newServer(change *Change) {
	c.serverLines(change.Key, c.planned(change), state{after: true})
}

// planned is what a server that is made will be, if the first candidate works.
func (c *costs) planned(change *Change) server {
	var s server
	if len(change.Candidates) > 0 {
		s.kind, s.location = change.Candidates[0].Type, change.Candidates[0].Location
	}
	i := slices.IndexFunc(c.m.desired.Servers, func(w schemas.InfraServer) bool { return w.Name == change.Name })
	if i >= 0 {
		s.backups, s.ipv4 = c.m.desired.Servers[i].Backups, c.m.desired.Servers[i].PublicIPv4
	}
	return s
}

func (c *costs) serverLines(key Key, s server, when state) {
	what := fmt.Sprintf("%s in %s", s.kind, s.location)
	price := Price{}
	if t := c.m.typeOf(s.kind); t != nil {
		price = c.typePrice(t.Prices, s.location, when)
	}
	c.line(key, what, price, when)
	if s.backups {
		percent, ok := new(big.Rat).SetString(c.m.observed.Catalogue.Pricing.ServerBackup)
		if a, known := amountOf(price); ok && known {
			price = a.times(percent.Quo(percent, big.NewRat(100, 1))).price()
		} else {
			price = Price{}
		}
		c.line(key, "backups of "+what, price, when)
	}
	if s.ipv4 {
		c.line(key, "IPv4 address in "+s.location, addressPrice(c.m.observed.Catalogue.Pricing.PrimaryIPs, ipv4, s.location), when)
	}
}

// typePrice is the price of a type in a location; included traffic is added up
// along the way.
func (c *costs) typePrice(prices []TypePrice, location string, when state) Price {
	i := slices.IndexFunc(prices, func(p TypePrice) bool { return p.Location == location })
	if i < 0 {
		return Price{}
	}
	if when.after {
		c.cost.IncludedTraffic += prices[i].IncludedTraffic
	}
	return prices[i].Monthly
}

func addressPrice(prices []AddressPrice, ipType, location string) Price {
	i := slices.IndexFunc(prices, func(p AddressPrice) bool { return p.Type == ipType && p.Location == location })
	if i < 0 {
		return Price{}
	}
	return prices[i].Monthly
}
