package schemas

// InfrastructureVersion is the version of the format of infrastructure.yaml.
const InfrastructureVersion = "talosgen.dev/v1alpha1"

// InfrastructureFile is the file in a rendered tree that holds an
// [Infrastructure].
const InfrastructureFile = "infrastructure.yaml"

// Infrastructure is the content of rendered/<env>/infrastructure.yaml: the
// resolved, desired state of Hetzner Cloud, with every name, address, rule and
// default, or the machines of a static environment. It holds no secrets.
// `render` writes it, `apply` makes it so.
//
// What only Hetzner knows, such as a public address, is named by the object
// that it belongs to: see [InfraTarget].
type Infrastructure struct {
	// The version of this format: [InfrastructureVersion].
	APIVersion string `yaml:"apiVersion"`
	// The name of the cluster: the label cluster of everything that it owns.
	Cluster string `yaml:"cluster"`
	// Where the nodes come from: hetzner or static.
	Provider string `yaml:"provider"`
	// How the Kubernetes API is reached.
	KubernetesAPI InfraAPI `yaml:"kubernetesApi"`
	// How people reach the nodes.
	Access InfraAccess `yaml:"access"`
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
	// Snapshots with Talos that servers are made from.
	Images []InfraSnapshot `yaml:"images,omitempty"`
	// Servers: nodes first, then the NAT gateways.
	Servers []InfraServer `yaml:"servers,omitempty"`
	// Servers that pools have beside these while nodes of them are recreated.
	Surge []InfraServer `yaml:"surge,omitempty"`
	// Pools whose servers the cluster itself makes and deletes.
	AutoscalerPools []InfraAutoscalerPool `yaml:"autoscalerPools,omitempty"`
	// Records in zones of Hetzner DNS, which exist already.
	DNSRecords []InfraDNSRecord `yaml:"dnsRecords,omitempty"`
	// Machines that exist already.
	Machines []InfraMachine `yaml:"machines,omitempty"`
	// Whether labels, and subnets and routes of the network, stay that are not desired.
	KeepOthers bool `yaml:"keepOthers,omitempty"`
	// How nodes reboot, if not as Talos does by itself.
	Reboots InfraReboots `yaml:"reboots,omitempty"`
}

// InfraReboots says how nodes reboot: powercycle, or force. Empty is as Talos does by
// itself.
type InfraReboots struct {
	// When their configuration needs it.
	Mode string `yaml:"mode,omitempty"`
	// When a new Talos is installed.
	Upgrade string `yaml:"upgrade,omitempty"`
}

// InfraAPI says how the Kubernetes API is reached.
type InfraAPI struct {
	// The URL that nodes use, known before anything exists.
	Endpoint string `yaml:"endpoint"`
	// The private address that control planes share and announce themselves,
	// as an alias IP in the network or on their link; empty if there is none.
	VirtualIP string `yaml:"virtualIp,omitempty"`
	// The URL that people use, if it is known; else External says whose public
	// address it has.
	ExternalEndpoint string `yaml:"externalEndpoint,omitempty"`
	// What people reach the API by, in order of preference: its load balancer,
	// its floating IP or the control planes.
	External []InfraTarget `yaml:"external,omitempty"`
	// A name that the certificate of the API holds, for clients that come by an
	// address that it does not hold.
	TLSServerName string `yaml:"tlsServerName"`
	// The names and addresses that the certificates of the API hold as far as
	// they are known, beside each node's own.
	CertSANs []string `yaml:"certSans"`
	// How people log in with an OpenID Connect provider, if they can.
	OIDC *InfraOIDC `yaml:"oidc,omitempty"`
}

// InfraOIDC is what a client needs to know to log in with an OpenID Connect
// provider. Nothing of it is secret.
type InfraOIDC struct {
	// The URL of the provider.
	IssuerURL string `yaml:"issuerUrl"`
	// The client that tokens are made for.
	ClientID string `yaml:"clientId"`
}

// InfraAccess says how people, and apply, reach the nodes.
type InfraAccess struct {
	// By public addresses (public), only from the private network (private), or
	// by the addresses that the machines of a static environment have (direct).
	Mode string `yaml:"mode"`
	// The server to go through by SSH to nodes without public addresses: a name
	// in servers. Empty if there is none.
	Jump string `yaml:"jump,omitempty"`
	// The server that leads there as well, where the first one does not. Empty if
	// there is none.
	JumpStandby string `yaml:"jumpStandby,omitempty"`
	// Whether the current addresses of the machine that runs apply may use
	// SSH on that server as long as it runs, because no other may.
	JumpSession bool `yaml:"jumpSession,omitempty"`
	// Whether the current addresses of the machine that runs apply are allowed
	// as long as it runs.
	CurrentIPv4 bool `yaml:"currentIpv4"`
	CurrentIPv6 bool `yaml:"currentIpv6"`
}

// Leads reports whether a server is one to go through to nodes without public addresses.
func (a InfraAccess) Leads(server string) bool {
	return server != "" && (server == a.Jump || server == a.JumpStandby)
}

// Kinds of an [InfraTarget].
const (
	TargetLoadBalancer = "loadBalancer"
	TargetFloatingIP   = "floatingIp"
	TargetServer       = "server"
)

// InfraTarget stands for the public addresses of an object, which are known
// only once it is there.
type InfraTarget struct {
	Kind string `yaml:"kind"` // loadBalancer, floatingIp or server
	Name string `yaml:"name,omitempty"`
	// The id of an existing object that is known by it, instead of a name.
	ID int64 `yaml:"id,omitempty"`
	// Whether the cluster itself makes the object, some time after it came up.
	MadeByCluster bool `yaml:"madeByCluster,omitempty"`
}

// InfraMachine is a machine that exists already.
type InfraMachine struct {
	Name string `yaml:"name"`
	Role string `yaml:"role"`
	Pool string `yaml:"pool"`
	// How to recognise it: everything that is given must match.
	Match InfraMatch `yaml:"match"`
	// Where it is before it is configured, and afterwards.
	BootAddress string `yaml:"bootAddress,omitempty"`
	Address     string `yaml:"address,omitempty"`
	InstallDisk string `yaml:"installDisk"`
	// Of a dedicated server beside servers of Hetzner Cloud: its address in the private
	// network, and its number at Hetzner Robot, if that is known. The other addresses are
	// public ones.
	PrivateIP   string `yaml:"privateIp,omitempty"`
	RobotServer int64  `yaml:"robotServer,omitempty"`
}

// InfraMatch holds what identifies a machine.
type InfraMatch struct {
	MAC    string `yaml:"mac,omitempty"`    // of one of its network cards
	UUID   string `yaml:"uuid,omitempty"`   // in its SMBIOS data
	Serial string `yaml:"serial,omitempty"` // in its SMBIOS data
	// Of the key that it shows before it is configured.
	Fingerprint string `yaml:"fingerprint,omitempty"`
}
