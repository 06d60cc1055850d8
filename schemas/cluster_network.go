package schemas

// Network holds the address ranges of a cluster, and how its nodes reach the
// world. No two ranges overlap.
type Network struct {
	// The private network. Provider hetzner only.
	CIDR string `yaml:"cidr" format:"cidr" otherwise:"10.0.0.0/16 on hetzner" example:"10.0.0.0/16"`
	// The ranges of pod addresses, at most one for each IP version.
	PodCidrs []string `yaml:"podCidrs" format:"cidr" otherwise:"on hetzner the second half of network.cidr; for static nodes 10.244.0.0/16, or fc00:db8:10::/56 if the endpoint is an IPv6 address" example:"[10.0.128.0/17]"`
	// The ranges of service addresses, at most one for each IP version.
	ServiceCidrs []string `yaml:"serviceCidrs" format:"cidr" otherwise:"on hetzner the fourth eighth of network.cidr; for static nodes 10.96.0.0/12, or fc00:db8:20::/112 if the endpoint is an IPv6 address" example:"[10.0.96.0/19]"`
	// The subnets in which nodes live. The kubelet takes the node's address
	// from them. On hetzner one, a part of network.cidr.
	NodeCidrs []string `yaml:"nodeCidrs" format:"cidr" otherwise:"on hetzner the third eighth of network.cidr; for static nodes the kubelet chooses an address" example:"[10.0.64.0/19]"`
	// The prefix length of the subnets that nodeCidrs is divided into: for
	// control planes, load balancers, workers and autoscaled servers. Provider
	// hetzner only.
	NodeSubnetMaskSize int `yaml:"nodeSubnetMaskSize" min:"16" max:"29" otherwise:"with as many addresses as podCidrs has /24 subnets" example:"25"`
	// Subnets that are given, in place of those that nodeCidrs is divided into, such
	// as those of a cluster that was adopted. Two of them may be the same. Provider
	// hetzner only.
	Subnets Subnets `yaml:"subnets"`
	// The range in which pods are reached without a tunnel.
	NativeRoutingCIDR string `yaml:"nativeRoutingCidr" format:"cidr" otherwise:"network.cidr on hetzner" example:"10.0.0.0/16"`
	// The domain of the cluster's own DNS.
	DNSDomain string `yaml:"dnsDomain" default:"cluster.local" format:"dnsName" example:"k8s.example.com"`
	// A network that exists already, to use instead of making one. It is never
	// deleted. Provider hetzner only.
	Existing ExistingNetwork `yaml:"existing"`
	// Whether servers have a public IPv4 address. Provider hetzner only.
	PublicIPv4 bool `yaml:"publicIpv4" default:"true" example:"false"`
	// Whether servers have a public IPv6 address. Provider hetzner only.
	PublicIPv6 bool `yaml:"publicIpv6" default:"true" example:"false"`
	// Whether nodes use IPv6 at all.
	IPv6 bool `yaml:"ipv6" default:"true" example:"false"`
	// The largest packet in the private network. Provider hetzner only.
	MTU int `yaml:"mtu" min:"1280" max:"1450" otherwise:"1450, or 1400 with a vSwitch" example:"1400"`
	// How many servers the network may have. Hetzner Cloud allows 100; change
	// it if your project has another limit. Provider hetzner only.
	ServerLimit int `yaml:"serverLimit" default:"100" min:"1" max:"10000" example:"200"`
	// Routes of every node in addition to those that it has anyway.
	ExtraRoutes []Route `yaml:"extraRoutes" otherwise:"none"`
	// A server through which nodes without public addresses reach the world,
	// and people reach them. Provider hetzner only.
	NATGateway NATGateway `yaml:"natGateway"`
	// A vSwitch that connects dedicated servers to the network. Provider
	// hetzner only.
	VSwitch VSwitch `yaml:"vswitch"`
}

// Subnets are subnets of the private network. If one is given, those for control
// planes, load balancers and workers are.
type Subnets struct {
	// For control planes.
	ControlPlane string `yaml:"controlPlane" format:"cidr" otherwise:"a part of nodeCidrs" example:"10.0.1.0/24"`
	// For load balancers and the NAT gateway.
	LoadBalancers string `yaml:"loadBalancers" format:"cidr" otherwise:"a part of nodeCidrs" example:"10.0.1.0/24"`
	// For pools of workers that have no subnet of their own.
	Workers string `yaml:"workers" format:"cidr" otherwise:"a part of nodeCidrs" example:"10.0.1.0/24"`
}

// ExistingNetwork names a Hetzner Cloud network: by its id or by its name.
type ExistingNetwork struct {
	// Its id.
	ID int `yaml:"id" min:"1" max:"9007199254740991" otherwise:"none" example:"12345678"`
	// Its name.
	Name string `yaml:"name" format:"resourceName" example:"shared"`
}

// Route is a route of a node.
type Route struct {
	// Where it leads to.
	Destination string `yaml:"destination" required:"true" format:"cidr" example:"10.20.0.0/16"`
	// The address that takes it there.
	Gateway string `yaml:"gateway" format:"ip" otherwise:"the gateway of the private network on hetzner; required for static nodes" example:"10.0.0.1"`
}

// NATGateway is a server that nodes without public addresses go through.
type NATGateway struct {
	// Whether there is one.
	Enabled *bool `yaml:"enabled" otherwise:"true if servers have no public IPv4 address" example:"true"`
	// Its server type.
	Type string `yaml:"type" format:"identifier" otherwise:"cpx22 in Europe, cpx21 elsewhere" example:"cax11"`
	// Where it is.
	Location string `yaml:"location" format:"identifier" otherwise:"hetzner.region" example:"fsn1"`
	// The addresses from which people may use it to reach the nodes by SSH.
	SSHSource []string `yaml:"sshSource" format:"cidr" otherwise:"the address of the machine that runs apply" example:"[203.0.113.0/24]"`
	// A second gateway, of the same type and behind the same firewall. The way out of
	// nodes leads through one of the two, and apply and watch move it to the other
	// when that one fails.
	Standby NATStandby `yaml:"standby"`
}

// NATStandby is the second of two NAT gateways.
type NATStandby struct {
	// Whether there is one.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// Where it is, in the network zone of the first.
	Location string `yaml:"location" format:"identifier" otherwise:"another location of the network zone, if it has one" example:"nbg1"`
}

// VSwitch is a vSwitch of Hetzner Robot.
type VSwitch struct {
	// Its id.
	ID int `yaml:"id" min:"1" max:"9007199254740991" otherwise:"none" example:"12345"`
	// Its VLAN.
	VLANID int `yaml:"vlanId" default:"4050" min:"4000" max:"4091" example:"4050"`
	// Whether the routes of the network are made known to it.
	ExposeRoutes bool `yaml:"exposeRoutes" default:"true" example:"false"`
}
