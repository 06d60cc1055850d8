package hetznersim

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// catalogue is what Hetzner offers. It never changes; what is sold out is part
// of the state.
type catalogue struct {
	locations []*location
	types     []*serverType
	lbTypes   []*lbType
	isos      []*iso
	pricing   json.RawMessage // as another project has said it; nil: that of the tables here
}

// location is a place of servers, as the API shows it.
type location struct {
	ID          int64   `json:"id"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Country     string  `json:"country"`
	City        string  `json:"city"`
	Latitude    float64 `json:"latitude"`
	Longitude   float64 `json:"longitude"`
	NetworkZone string  `json:"network_zone"`
}

// serverType is a kind of server.
type serverType struct {
	ID         int64
	Name       string
	Cores      int
	Memory     int // in GB
	Disk       int // in GB
	Arch       string
	CPU        string // "shared" or "dedicated"
	Category   string
	Prices     []price
	Deprecated *deprecation
}

// lbType is a kind of load balancer.
type lbType struct {
	ID                                    int64
	Name                                  string
	Connections, Services, Targets, Certs int
	Prices                                []price
}

// deprecation is the end of a type: when it was announced, and when nobody can
// order it any more.
type deprecation struct {
	UnavailableAfter time.Time `json:"unavailable_after"`
	Announced        time.Time `json:"announced"`
}

func newCatalogue() *catalogue {
	c := &catalogue{locations: locations(), isos: isos()}
	for _, o := range serverOffers {
		c.types = append(c.types, o.serverType())
	}
	for _, o := range lbOffers {
		c.lbTypes = append(c.lbTypes, o.lbType())
	}
	return c
}

func locations() []*location {
	return []*location{
		{1, "fsn1", "Falkenstein DC Park 1", "DE", "Falkenstein", 50.47612, 12.370071, "eu-central"},
		{2, "nbg1", "Nuremberg DC Park 1", "DE", "Nuremberg", 49.452102, 11.076665, "eu-central"},
		{3, "hel1", "Helsinki DC Park 1", "FI", "Helsinki", 60.169855, 24.938379, "eu-central"},
		{4, "ash", "Ashburn, VA", "US", "Ashburn, VA", 39.045821, -77.487073, "us-east"},
		{5, "hil", "Hillsboro, OR", "US", "Hillsboro, OR", 45.54222, -122.951924, "us-west"},
		{6, "sin", "Singapore", "SG", "Singapore", 1.283333, 103.833333, "ap-southeast"},
	}
}

// europe and world are where a type is offered.
var (
	europe     = []string{"fsn1", "nbg1", "hel1"}
	everywhere = []string{"fsn1", "nbg1", "hel1", "ash", "hil", "sin"}
	overseas   = []string{"ash", "hil", "sin"}
)

// offer is a server type, and what it costs a month in euro cents, net, in
// Europe. The prices are near the real ones and stay as they are, so that tests
// can count on them.
type offer struct {
	id                  int64
	name                string
	cores, memory, disk int
	cents               int
	where               []string
	ended               bool // nobody can order it any more
}

var serverOffers = []offer{
	{22, "cpx11", 2, 2, 40, 499, overseas, false},
	{23, "cpx21", 3, 4, 80, 849, overseas, false},
	{24, "cpx31", 4, 8, 160, 1549, overseas, false},
	{25, "cpx41", 8, 16, 240, 2849, overseas, false},
	{26, "cpx51", 16, 32, 360, 6149, overseas, false},
	{45, "cax11", 2, 4, 40, 379, europe, false},
	{93, "cax21", 4, 8, 80, 649, europe, false},
	{94, "cax31", 8, 16, 160, 1249, europe, false},
	{95, "cax41", 16, 32, 320, 2449, europe, false},
	{96, "ccx13", 2, 8, 80, 1249, everywhere, false},
	{97, "ccx23", 4, 16, 160, 2449, everywhere, false},
	{98, "ccx33", 8, 32, 240, 4849, everywhere, false},
	{99, "ccx43", 16, 64, 360, 9649, everywhere, false},
	{100, "ccx53", 32, 128, 600, 19249, everywhere, false},
	{101, "ccx63", 48, 192, 960, 28849, everywhere, false},
	{104, "cx22", 2, 4, 40, 379, europe, true},
	{105, "cpx12", 1, 2, 40, 549, europe, false},
	{106, "cpx22", 2, 4, 80, 649, europe, false},
	{107, "cpx32", 4, 8, 160, 1099, europe, false},
	{108, "cpx42", 8, 16, 320, 1999, europe, false},
	{109, "cpx52", 12, 24, 480, 2849, europe, false},
	{110, "cpx62", 16, 32, 640, 3899, europe, false},
	{114, "cx23", 2, 4, 40, 299, europe, false},
	{115, "cx33", 4, 8, 80, 499, europe, false},
	{116, "cx43", 8, 16, 160, 949, europe, false},
	{117, "cx53", 16, 32, 320, 1749, europe, false},
}

func (o offer) serverType() *serverType {
	t := &serverType{ID: o.id, Name: o.name, Cores: o.cores, Memory: o.memory, Disk: o.disk,
		Arch: "x86", CPU: "shared", Category: "cost_optimized"}
	switch {
	case strings.HasPrefix(o.name, "cax"):
		t.Arch = "arm"
	case strings.HasPrefix(o.name, "cpx"):
		t.Category = "regular_purpose"
	case strings.HasPrefix(o.name, "ccx"):
		t.CPU, t.Category = "dedicated", "general_purpose"
	}
	for _, l := range o.where {
		t.Prices = append(t.Prices, priceIn(l, o.cents))
	}
	if o.ended {
		t.Deprecated = &deprecation{
			Announced:        time.Date(2025, 10, 16, 0, 0, 0, 0, time.UTC),
			UnavailableAfter: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		}
	}
	return t
}

type lbOffer struct {
	id                                    int64
	name                                  string
	connections, services, targets, certs int
	cents                                 int
}

var lbOffers = []lbOffer{
	{1, "lb11", 10000, 5, 25, 10, 539},
	{2, "lb21", 20000, 15, 75, 25, 1640},
	{3, "lb31", 40000, 30, 150, 50, 3290},
}

func (o lbOffer) lbType() *lbType {
	t := &lbType{ID: o.id, Name: o.name, Connections: o.connections, Services: o.services, Targets: o.targets, Certs: o.certs}
	for _, l := range everywhere {
		t.Prices = append(t.Prices, priceIn(l, o.cents))
	}
	return t
}

func (c *catalogue) location(name string) *location {
	return find(c.locations, func(l *location) bool { return l.Name == name })
}

// pickLocation finds a location by its name or ID; without one it is the first.
func (c *catalogue) pickLocation(v idOrName) *location {
	if v == "" {
		return c.locations[0]
	}
	id, _ := v.id()
	return find(c.locations, func(l *location) bool { return l.Name == string(v) || l.ID == id })
}

// zone is the network zone of a location.
func (c *catalogue) zone(name string) string {
	if l := c.location(name); l != nil {
		return l.NetworkZone
	}
	return ""
}

func (c *catalogue) hasZone(zone string) bool {
	return slices.ContainsFunc(c.locations, func(l *location) bool { return l.NetworkZone == zone })
}

// serverType finds a type by its name or ID.
func (c *catalogue) serverType(v idOrName) *serverType {
	id, _ := v.id()
	return find(c.types, func(t *serverType) bool { return t.Name == string(v) || t.ID == id })
}

func (c *catalogue) lbType(v idOrName) *lbType {
	id, _ := v.id()
	return find(c.lbTypes, func(t *lbType) bool { return t.Name == string(v) || t.ID == id })
}

// in reports whether a type is offered in a location.
func (t *serverType) in(location string) bool {
	return slices.ContainsFunc(t.Prices, func(p price) bool { return p.Location == location })
}

func find[E any](list []*E, fits func(*E) bool) *E {
	for _, e := range list {
		if fits(e) {
			return e
		}
	}
	return nil
}
