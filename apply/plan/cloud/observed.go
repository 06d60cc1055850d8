package cloud

import (
	"time"

	"github.com/talosgen/talosgen/schemas"
)

// Observed is what was found on Hetzner Cloud. It has to hold
//
//   - everything with the label cluster=<cluster>,
//   - everything that has a name that is desired, whoever made it,
//   - the network that is desired by its id,
//   - everything attached to the cluster's network: load balancers of the cloud
//     controller, servers of the autoscaler,
//   - volumes that are attached to servers of the cluster, carry its label, or have a
//     name that is desired,
//   - SSH keys and images that servers ask for, and the record sets of DNS that
//     are desired or carry the cluster's label.
//
// More does no harm: what belongs to the cluster is decided here, by labels. A
// read that failed must never become an empty list.
type Observed struct {
	// Hetzner's clock at the time of the observation, from the header Date.
	Time            time.Time        `yaml:"time,omitempty"`
	Networks        []Network        `yaml:"networks,omitempty"`
	Firewalls       []Firewall       `yaml:"firewalls,omitempty"`
	LoadBalancers   []LoadBalancer   `yaml:"loadBalancers,omitempty"`
	PlacementGroups []PlacementGroup `yaml:"placementGroups,omitempty"`
	FloatingIPs     []FloatingIP     `yaml:"floatingIps,omitempty"`
	PrimaryIPs      []PrimaryIP      `yaml:"primaryIps,omitempty"`
	SSHKeys         []SSHKey         `yaml:"sshKeys,omitempty"`
	Servers         []Server         `yaml:"servers,omitempty"`
	Volumes         []Volume         `yaml:"volumes,omitempty"`
	Images          []Image          `yaml:"images,omitempty"`
	Zones           []Zone           `yaml:"zones,omitempty"`
	Catalogue       Catalogue        `yaml:"catalogue,omitempty"`
	// Which NAT gateways have proven themselves, where there are several and all were
	// asked.
	Answers []Answer `yaml:"answers,omitempty"`
}

// Meta is what every object of Hetzner has.
type Meta struct {
	ID      int64             `yaml:"id"`
	Name    string            `yaml:"name"`
	Labels  map[string]string `yaml:"labels,omitempty"`
	Created time.Time         `yaml:"created,omitempty"`
}

// Object returns it, whatever kind of object has it.
func (m Meta) Object() Meta { return m }

// Network is a private network.
type Network struct {
	Meta                  `yaml:",inline"`
	IPRange               string               `yaml:"ipRange"`
	Protected             bool                 `yaml:"protected,omitempty"`
	ExposeRoutesToVSwitch bool                 `yaml:"exposeRoutesToVswitch,omitempty"`
	Subnets               []Subnet             `yaml:"subnets,omitempty"`
	Routes                []schemas.InfraRoute `yaml:"routes,omitempty"`
	// The ids of everything that is attached, whoever it belongs to.
	Servers       []int64 `yaml:"servers,omitempty,flow"`
	LoadBalancers []int64 `yaml:"loadBalancers,omitempty,flow"`
}

// Subnet is a subnet of a network. It has neither id nor labels: its range
// identifies it.
type Subnet struct {
	Type        string `yaml:"type"` // cloud, vswitch, or the old server
	IPRange     string `yaml:"ipRange"`
	NetworkZone string `yaml:"networkZone"`
	Gateway     string `yaml:"gateway,omitempty"`
	VSwitchID   int64  `yaml:"vswitchId,omitempty"`
}

// Firewall is a firewall with what it is applied to.
type Firewall struct {
	Meta  `yaml:",inline"`
	Rules []schemas.InfraRule `yaml:"rules,omitempty"`
	// The label selectors that it is applied to.
	Selectors []string `yaml:"selectors,omitempty"`
	// The ids of the servers that it is applied to directly, not by a selector.
	Servers []int64 `yaml:"servers,omitempty,flow"`
}

// LoadBalancer is a load balancer.
type LoadBalancer struct {
	Meta            `yaml:",inline"`
	Type            string       `yaml:"type"`
	Location        string       `yaml:"location"`
	Algorithm       string       `yaml:"algorithm"`
	Protected       bool         `yaml:"protected,omitempty"`
	PublicInterface bool         `yaml:"publicInterface,omitempty"`
	PublicIPv4      PublicIP     `yaml:"publicIpv4,omitempty"`
	PublicIPv6      PublicIP     `yaml:"publicIpv6,omitempty"`
	PrivateNets     []PrivateNet `yaml:"privateNets,omitempty"`
	Services        []Service    `yaml:"services,omitempty"`
	Targets         []Target     `yaml:"targets,omitempty"`
}

// Service is a port of a load balancer.
type Service struct {
	schemas.InfraService `yaml:",inline"`
	// The domain that a health check by HTTP asks for; never desired.
	Domain string `yaml:"domain,omitempty"`
}

// Target is what a load balancer sends traffic to. One of Selector, Server and
// IP is set.
type Target struct {
	Selector string `yaml:"selector,omitempty"`
	Server   int64  `yaml:"server,omitempty"`
	IP       string `yaml:"ip,omitempty"`
	// Whether servers are reached by their private address.
	UsePrivateIP bool `yaml:"usePrivateIp,omitempty"`
}

// PublicIP is a public address of an object, and its reverse DNS name.
type PublicIP struct {
	// The id of the primary IP; 0 where the object owns the address itself.
	ID int64 `yaml:"id,omitempty"`
	// The address; of IPv6 the network with its length.
	IP string `yaml:"ip,omitempty"`
	// The reverse DNS name; of IPv6 that of the first address in the network.
	DNSPtr string `yaml:"dnsPtr,omitempty"`
}

// PrivateNet is an attachment to a network.
type PrivateNet struct {
	Network  int64    `yaml:"network"`
	IP       string   `yaml:"ip"`
	AliasIPs []string `yaml:"aliasIps,omitempty,flow"`
}

// PlacementGroup is a placement group.
type PlacementGroup struct {
	Meta    `yaml:",inline"`
	Type    string  `yaml:"type"` // spread
	Servers []int64 `yaml:"servers,omitempty,flow"`
}

// FloatingIP is an address that moves between servers.
type FloatingIP struct {
	Meta        `yaml:",inline"`
	Type        string `yaml:"type"` // ipv4 or ipv6
	Location    string `yaml:"location"`
	Description string `yaml:"description,omitempty"`
	Protected   bool   `yaml:"protected,omitempty"`
	IP          string `yaml:"ip"`
	DNSPtr      string `yaml:"dnsPtr,omitempty"` // as in [PublicIP]
	Server      int64  `yaml:"server,omitempty"` // 0: not assigned
}

// PrimaryIP is a public address of a server, or one that waits for one.
type PrimaryIP struct {
	Meta       `yaml:",inline"`
	Type       string `yaml:"type"` // ipv4 or ipv6
	Location   string `yaml:"location"`
	IP         string `yaml:"ip"`
	Assignee   int64  `yaml:"assignee,omitempty"` // the id of a server; 0: not assigned
	AutoDelete bool   `yaml:"autoDelete,omitempty"`
	Protected  bool   `yaml:"protected,omitempty"`
}

// SSHKey is a public key in the project.
type SSHKey struct {
	Meta        `yaml:",inline"`
	Fingerprint string `yaml:"fingerprint,omitempty"`
	PublicKey   string `yaml:"publicKey,omitempty"`
}

// Server is a server.
type Server struct {
	Meta     `yaml:",inline"`
	Status   string `yaml:"status"` // initializing, starting, running, stopping, off, deleting, …
	Type     string `yaml:"type"`
	Location string `yaml:"location"`
	// What it was made from; 0 and empty once the image is gone.
	ImageID     int64             `yaml:"imageId,omitempty"`
	ImageName   string            `yaml:"imageName,omitempty"` // of one of Hetzner's images
	ImageLabels map[string]string `yaml:"imageLabels,omitempty"`
	// The size of the disk in GB: less than the type's if it was kept.
	DiskSize int `yaml:"diskSize,omitempty"`
	// No address, if the server has none of that kind.
	PublicIPv4  PublicIP          `yaml:"publicIpv4,omitempty"`
	PublicIPv6  PublicIP          `yaml:"publicIpv6,omitempty"`
	PrivateNets []PrivateNet      `yaml:"privateNets,omitempty"`
	Firewalls   []AppliedFirewall `yaml:"firewalls,omitempty"`
	// The id of the placement group; 0: none.
	PlacementGroup int64   `yaml:"placementGroup,omitempty"`
	DeleteProtect  bool    `yaml:"deleteProtect,omitempty"`
	RebuildProtect bool    `yaml:"rebuildProtect,omitempty"`
	Backups        bool    `yaml:"backups,omitempty"`
	Rescue         bool    `yaml:"rescue,omitempty"`
	ISO            string  `yaml:"iso,omitempty"` // the name of the attached one
	Locked         bool    `yaml:"locked,omitempty"`
	Volumes        []int64 `yaml:"volumes,omitempty,flow"`
}

// AppliedFirewall is a firewall at a server, directly or by a selector.
type AppliedFirewall struct {
	ID     int64  `yaml:"id"`
	Status string `yaml:"status"` // applied or pending
}

// Volume is a volume.
type Volume struct {
	Meta      `yaml:",inline"`
	Size      int    `yaml:"size"` // GB
	Location  string `yaml:"location"`
	Server    int64  `yaml:"server,omitempty"` // 0: not attached
	Protected bool   `yaml:"protected,omitempty"`
}

// Image is an image that servers can be made from. Name is empty for
// snapshots; Hetzner's own have one.
type Image struct {
	Meta         `yaml:",inline"`
	Type         string  `yaml:"type"`   // system, snapshot, …
	Status       string  `yaml:"status"` // available, creating or unavailable
	Description  string  `yaml:"description,omitempty"`
	Architecture string  `yaml:"architecture"`        // x86 or arm
	ImageSize    float64 `yaml:"imageSize,omitempty"` // GB, what is paid for
	DiskSize     float64 `yaml:"diskSize,omitempty"`  // GB, what a server needs
	Protected    bool    `yaml:"protected,omitempty"`
}

// Zone is a DNS zone with those of its record sets that matter.
type Zone struct {
	Meta   `yaml:",inline"`
	TTL    int     `yaml:"ttl,omitempty"` // seconds; of records that have none
	RRSets []RRSet `yaml:"rrsets,omitempty"`
}

// RRSet are the records of one name and type in a zone.
type RRSet struct {
	Name      string            `yaml:"name"`          // relative to the zone; @ for the zone itself
	Type      string            `yaml:"type"`          // A, AAAA, CNAME, …
	TTL       int               `yaml:"ttl,omitempty"` // seconds; 0: the zone's
	Values    []string          `yaml:"values"`
	Labels    map[string]string `yaml:"labels,omitempty"`
	Protected bool              `yaml:"protected,omitempty"`
}
