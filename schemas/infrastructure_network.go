package schemas

// InfraNetwork is a Hetzner Cloud network.
type InfraNetwork struct {
	// The name; empty for an existing network that is known by its id.
	Name string `yaml:"name,omitempty"`
	// Whether it exists already and is not the cluster's own: it is never
	// made, changed or deleted. What follows is still what the cluster uses: a
	// subnet or route that it has already is taken as it is, others are added.
	Existing bool `yaml:"existing,omitempty"`
	// The id of an existing network that is not known by its name.
	ExistingID int64             `yaml:"existingId,omitempty"`
	IPRange    string            `yaml:"ipRange"`
	Labels     map[string]string `yaml:"labels,omitempty"`
	Protected  bool              `yaml:"protected"`
	// Whether a vSwitch knows the routes of the network.
	ExposeRoutesToVSwitch bool          `yaml:"exposeRoutesToVswitch,omitempty"`
	Subnets               []InfraSubnet `yaml:"subnets"`
	Routes                []InfraRoute  `yaml:"routes,omitempty"`
}

// InfraSubnet is a subnet of the network.
type InfraSubnet struct {
	// What it is for: control-plane, load-balancers, workers, autoscaler,
	// bare-metal, or the pool that has it for itself.
	Purpose     string `yaml:"purpose"`
	Type        string `yaml:"type"` // cloud or vswitch
	IPRange     string `yaml:"ipRange"`
	NetworkZone string `yaml:"networkZone"`
	VSwitchID   int64  `yaml:"vswitchId,omitempty"`
}

// InfraRoute is a route of the network.
type InfraRoute struct {
	Destination string `yaml:"destination"`
	Gateway     string `yaml:"gateway"`
	// The address of the gateway that it may lead to as well, while that one is well and
	// the other one is not; empty if there is one gateway only.
	Standby string `yaml:"standby,omitempty"`
}

// InfraFirewall is a firewall with what it applies to.
type InfraFirewall struct {
	Name string `yaml:"name,omitempty"`
	// The id of a firewall that exists already and is not the cluster's own:
	// its rules and labels are not touched, only the servers it applies to.
	ExistingID int64             `yaml:"existingId,omitempty"`
	Labels     map[string]string `yaml:"labels,omitempty"`
	Rules      []InfraRule       `yaml:"rules,omitempty"`
	// The label selector of the servers that it applies to; empty: none, it only has
	// the records of a cluster to which nothing lasting belongs.
	ApplyTo string `yaml:"applyTo"`
	// Whether it is put on each of these servers by itself: the selector is not one of
	// the firewall's.
	Direct bool `yaml:"direct,omitempty"`
}

// InfraRule is a rule of a firewall. Hetzner drops what no rule lets in.
type InfraRule struct {
	Description    string   `yaml:"description"`
	Direction      string   `yaml:"direction"` // in or out
	Protocol       string   `yaml:"protocol"`  // tcp, udp, icmp, esp or gre
	Port           string   `yaml:"port,omitempty"`
	SourceIPs      []string `yaml:"sourceIps,omitempty"`
	DestinationIPs []string `yaml:"destinationIps,omitempty"`
}

// InfraLoadBalancer is a load balancer.
type InfraLoadBalancer struct {
	Name      string            `yaml:"name"`
	Type      string            `yaml:"type"`
	Location  string            `yaml:"location"`
	Algorithm string            `yaml:"algorithm"` // round_robin or least_connections
	Labels    map[string]string `yaml:"labels"`
	Protected bool              `yaml:"protected"`
	PrivateIP string            `yaml:"privateIp"`
	// Whether its public addresses are on.
	PublicInterface bool           `yaml:"publicInterface"`
	Services        []InfraService `yaml:"services"`
	// The label selectors of its targets, reached by their private address.
	Targets []string `yaml:"targets"`
	// The private addresses of dedicated servers that are its targets, too.
	IPTargets  []string        `yaml:"ipTargets,omitempty"`
	ReverseDNS InfraReverseDNS `yaml:"reverseDns,omitempty"`
}

// InfraService is a port of a load balancer.
type InfraService struct {
	Protocol        string           `yaml:"protocol"`
	ListenPort      int              `yaml:"listenPort"`
	DestinationPort int              `yaml:"destinationPort"`
	ProxyProtocol   bool             `yaml:"proxyProtocol"`
	HealthCheck     InfraHealthCheck `yaml:"healthCheck"`
}

// InfraHealthCheck tells how a load balancer finds out whether a target works.
type InfraHealthCheck struct {
	Protocol    string   `yaml:"protocol"` // tcp or http
	Port        int      `yaml:"port"`
	Interval    int      `yaml:"interval"` // seconds
	Timeout     int      `yaml:"timeout"`  // seconds
	Retries     int      `yaml:"retries"`
	Path        string   `yaml:"path,omitempty"`
	Response    string   `yaml:"response,omitempty"`
	TLS         bool     `yaml:"tls,omitempty"`
	StatusCodes []string `yaml:"statusCodes,omitempty"`
}

// InfraPlacementGroup is a placement group of type spread, for ten servers.
type InfraPlacementGroup struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
}

// InfraFloatingIP is an address that moves between servers.
type InfraFloatingIP struct {
	Name string `yaml:"name,omitempty"`
	// The id of a floating IP that exists already and is not the cluster's own:
	// it is never made, changed or deleted.
	ExistingID  int64             `yaml:"existingId,omitempty"`
	Type        string            `yaml:"type"` // ipv4 or ipv6
	Location    string            `yaml:"location,omitempty"`
	Description string            `yaml:"description,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Protected   bool              `yaml:"protected"`
	ReverseDNS  InfraReverseDNS   `yaml:"reverseDns,omitempty"`
}

// InfraReverseDNS are the names of public addresses. In them, {{ id }}, the id
// of the object, and {{ ip-labels }}, the address as its reverse zone writes it,
// are left for when the address is there; everything else is filled in.
type InfraReverseDNS struct {
	IPv4 string `yaml:"ipv4,omitempty"`
	IPv6 string `yaml:"ipv6,omitempty"`
}
