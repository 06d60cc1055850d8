package cloud

import "time"

// Catalogue is what Hetzner sells, where, and for how much.
type Catalogue struct {
	Locations         []Location         `yaml:"locations,omitempty"`
	ServerTypes       []ServerType       `yaml:"serverTypes,omitempty"`
	LoadBalancerTypes []LoadBalancerType `yaml:"loadBalancerTypes,omitempty"`
	Pricing           Pricing            `yaml:"pricing,omitempty"`
}

// Location is a place with its network zone.
type Location struct {
	ID          int64  `yaml:"id"`
	Name        string `yaml:"name"`
	NetworkZone string `yaml:"networkZone"`
}

// ServerType is a type of server.
type ServerType struct {
	ID           int64          `yaml:"id"`
	Name         string         `yaml:"name"`
	Cores        int            `yaml:"cores"`
	Memory       float64        `yaml:"memory"` // GB
	Disk         int            `yaml:"disk"`   // GB
	Architecture string         `yaml:"architecture"`
	Locations    []TypeLocation `yaml:"locations,omitempty"`
	Prices       []TypePrice    `yaml:"prices,omitempty"`
}

// TypeLocation is what a location says about a server type.
type TypeLocation struct {
	Name string `yaml:"name"`
	// Whether a server of the type can be made there now.
	Available   bool `yaml:"available"`
	Recommended bool `yaml:"recommended,omitempty"`
	// When it was announced that the type goes, and when it can no longer be
	// ordered; zero: it stays.
	DeprecationAnnounced time.Time `yaml:"deprecationAnnounced,omitempty"`
	UnavailableAfter     time.Time `yaml:"unavailableAfter,omitempty"`
}

// LoadBalancerType is a type of load balancer.
type LoadBalancerType struct {
	ID          int64       `yaml:"id"`
	Name        string      `yaml:"name"`
	MaxServices int         `yaml:"maxServices"`
	MaxTargets  int         `yaml:"maxTargets"`
	Prices      []TypePrice `yaml:"prices,omitempty"`
}

// Price is an amount, net and gross, as decimal text of the API.
type Price struct {
	Net   string `yaml:"net" json:"net"`
	Gross string `yaml:"gross" json:"gross"`
}

// TypePrice is the price of a type in a location.
type TypePrice struct {
	Location string `yaml:"location"`
	Monthly  Price  `yaml:"monthly"`
	Hourly   Price  `yaml:"hourly,omitempty"`
	// Bytes of outgoing traffic in a month that cost nothing, and the price of a
	// TB more.
	IncludedTraffic uint64 `yaml:"includedTraffic,omitempty"`
	PerTBTraffic    Price  `yaml:"perTbTraffic,omitempty"`
}

// Pricing is what things cost that have no type.
type Pricing struct {
	Currency string `yaml:"currency"`
	VATRate  string `yaml:"vatRate"` // in percent, as decimal text
	// By type (ipv4, ipv6) and location, for a month.
	FloatingIPs []AddressPrice `yaml:"floatingIps,omitempty"`
	PrimaryIPs  []AddressPrice `yaml:"primaryIps,omitempty"`
	// A GB for a month.
	Image  Price `yaml:"image,omitempty"`
	Volume Price `yaml:"volume,omitempty"`
	// What backups add to the price of a server, in percent.
	ServerBackup string `yaml:"serverBackup,omitempty"`
}

// AddressPrice is the price of an address for a month.
type AddressPrice struct {
	Type     string `yaml:"type"`
	Location string `yaml:"location"`
	Monthly  Price  `yaml:"monthly"`
}
