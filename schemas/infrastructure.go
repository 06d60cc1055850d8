package schemas

// Infrastructure is the content of rendered/<env>/infrastructure.yaml: the
// resolved, desired state of Hetzner Cloud, with every name, address, rule and
// default. It holds no secrets. `render` writes it, `apply` makes it so.
type Infrastructure struct {
	// The version of this format.
	APIVersion string `yaml:"apiVersion"`
	// The name of the cluster: the label cluster of everything that it owns.
	Cluster string `yaml:"cluster"`
	// Where the nodes come from.
	Provider string `yaml:"provider"`
	// The private network; absent for static nodes.
	Network *InfraNetwork `yaml:"network,omitempty"`
	// Firewalls, applied to servers by label.
	Firewalls []InfraFirewall `yaml:"firewalls,omitempty"`
	// Load balancers.
	LoadBalancers []InfraLoadBalancer `yaml:"loadBalancers,omitempty"`
	// Placement groups: servers of one are on different hosts.
	PlacementGroups []InfraPlacementGroup `yaml:"placementGroups,omitempty"`
	// Floating IPs.
	FloatingIPs []InfraFloatingIP `yaml:"floatingIps,omitempty"`
	// Servers, nodes first.
	Servers []InfraServer `yaml:"servers,omitempty"`
	// Machines that exist already.
	Machines []InfraMachine `yaml:"machines,omitempty"`
}

// InfraNetwork is a Hetzner Cloud network.
type InfraNetwork struct {
	// The name; of a network that exists already if the id is set.
	Name string `yaml:"name"`
	// The id of a network that is not the cluster's own; 0 for one that is.
	ExistingID int64             `yaml:"existingId,omitempty"`
	IPRange    string            `yaml:"ipRange"`
	Labels     map[string]string `yaml:"labels,omitempty"`
	Protected  bool              `yaml:"protected"`
	Subnets    []InfraSubnet     `yaml:"subnets"`
	Routes     []InfraRoute      `yaml:"routes,omitempty"`
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
}

// InfraFirewall is a firewall with what it applies to.
type InfraFirewall struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
	Rules  []InfraRule       `yaml:"rules"`
	// The label selector of the servers that it applies to.
	ApplyTo string `yaml:"applyTo"`
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
	Targets    []string        `yaml:"targets"`
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
	Name        string            `yaml:"name"`
	Type        string            `yaml:"type"` // ipv4 or ipv6
	Location    string            `yaml:"location"`
	Description string            `yaml:"description"`
	Labels      map[string]string `yaml:"labels"`
	Protected   bool              `yaml:"protected"`
	ReverseDNS  InfraReverseDNS   `yaml:"reverseDns,omitempty"`
}

// InfraReverseDNS are templates of reverse DNS names, for what is known only
// once an address is there.
type InfraReverseDNS struct {
	IPv4 string `yaml:"ipv4,omitempty"`
	IPv6 string `yaml:"ipv6,omitempty"`
}

// InfraServer is a server.
type InfraServer struct {
	Name string `yaml:"name"`
	// What it is: controlplane, worker or nat-gateway.
	Role  string `yaml:"role"`
	Pool  string `yaml:"pool,omitempty"`
	Index int    `yaml:"index,omitempty"`
	// The server types to try, in order.
	Types []string `yaml:"types"`
	// The locations to try, in order.
	Locations      []string          `yaml:"locations"`
	Image          InfraImage        `yaml:"image"`
	PrivateIP      string            `yaml:"privateIp"`
	PublicIPv4     bool              `yaml:"publicIpv4"`
	PublicIPv6     bool              `yaml:"publicIpv6"`
	PlacementGroup string            `yaml:"placementGroup,omitempty"`
	SSHKeys        []string          `yaml:"sshKeys,omitempty"`
	Labels         map[string]string `yaml:"labels"`
	Protected      bool              `yaml:"protected"`
	Backups        bool              `yaml:"backups,omitempty"`
	// Whether the disk keeps its size when the type grows.
	KeepDisk   bool            `yaml:"keepDisk,omitempty"`
	UserData   string          `yaml:"userData,omitempty"`
	ReverseDNS InfraReverseDNS `yaml:"reverseDns,omitempty"`
}

// InfraImage selects the image of a server: by name for one of Hetzner's, by
// labels for a snapshot.
type InfraImage struct {
	Name         string `yaml:"name,omitempty"`
	Selector     string `yaml:"selector,omitempty"`
	Architecture string `yaml:"architecture"` // x86 or arm
}

// InfraMachine is a machine that exists already.
type InfraMachine struct {
	Name  string `yaml:"name"`
	Role  string `yaml:"role"`
	Pool  string `yaml:"pool"`
	Match Match  `yaml:"match"`
	// Where it is before it is configured, and afterwards.
	BootAddress string `yaml:"bootAddress,omitempty"`
	Address     string `yaml:"address,omitempty"`
	InstallDisk string `yaml:"installDisk"`
}
