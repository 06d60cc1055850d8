package schemas

// HetznerCloud says where in Hetzner Cloud the cluster is, and what it has
// there beside its servers.
type HetznerCloud struct {
	// The location of servers, load balancers and volumes. Required, unless
	// each pool has a location.
	Region string `yaml:"region" format:"identifier" example:"hel1"`
	// The zone of the private network.
	NetworkZone string `yaml:"networkZone" format:"identifier" otherwise:"that of region" example:"eu-central"`
	// The names of SSH keys in the project. Talos has no SSH: they are for the
	// NAT gateway, and keep Hetzner from sending passwords by mail.
	SSHKeys []string `yaml:"sshKeys" format:"resourceName" otherwise:"none" example:"[my-key]"`
	// Who reaches the nodes by their public addresses.
	Firewall Firewall `yaml:"firewall"`
	// A load balancer for the Kubernetes API.
	APILoadBalancer APILoadBalancer `yaml:"apiLoadBalancer"`
	// Names for the public addresses of everything that has no rdns of its own.
	ReverseDNS ReverseDNS `yaml:"rdns"`
	// Records in zones of Hetzner DNS.
	DNS DNS `yaml:"dns"`
	// What is taken as it is of a cluster that was adopted.
	Adopted Adopted `yaml:"adopted"`
	// The disk images of the servers.
	Images Images `yaml:"images"`
	// The account for dedicated servers.
	Robot Robot `yaml:"robot"`
	// Whether the cloud controller makes a route in the private network for the
	// pods of each node. A network has at most 100.
	PodRoutes *bool `yaml:"podRoutes" otherwise:"true with cni.type cilium and cni.routingMode native, else false" example:"false"`
	// What load balancers are like that services ask for and that say nothing
	// else in their annotations.
	LoadBalancers LoadBalancers `yaml:"loadBalancers"`
	// Volumes of pods in Hetzner Cloud.
	Volumes Volumes `yaml:"volumes"`
}

// Adopted says what is taken as it is of a cluster that was made in Hetzner Cloud without
// talosgen: talosgen adopt writes it.
type Adopted struct {
	// Whether labels, and the subnets and routes of the network, stay that are not in
	// Git. Otherwise apply removes them.
	Keep bool `yaml:"keep" default:"false" example:"true"`
	// The value of the label role of control planes: load balancers and firewalls
	// that others made may find them by it.
	RoleLabel string `yaml:"roleLabel" default:"controlplane" enum:"controlplane,control-plane" example:"control-plane"`
	// The name of the network.
	Network string `yaml:"network" format:"resourceName" otherwise:"clusterName" example:"kubernetes"`
}

// LoadBalancers are defaults for the load balancers of services.
type LoadBalancers struct {
	// Whether services of type LoadBalancer get one.
	Enabled bool `yaml:"enabled" default:"true" example:"false"`
	// Their type.
	Type string `yaml:"type" default:"lb11" format:"identifier" example:"lb21"`
	// Where they are.
	Location string `yaml:"location" format:"identifier" otherwise:"hetzner.region" example:"fsn1"`
	// How they choose a target.
	Algorithm string `yaml:"algorithm" default:"least_connections" enum:"least_connections,round_robin" example:"round_robin"`
	// Whether they have public addresses.
	PublicNetwork bool `yaml:"publicNetwork" default:"true" example:"false"`
	// Whether their IPv6 address is told to the service too.
	IPv6 bool `yaml:"ipv6" default:"true" example:"false"`
	// Whether they reach nodes by their private addresses.
	PrivateTargets bool `yaml:"privateTargets" default:"true" example:"false"`
	// Whether their private address is told to the service too.
	PrivateIngress bool `yaml:"privateIngress" default:"false" example:"true"`
	// Whether they tell targets the client's address by the PROXY protocol, which
	// the target must expect.
	ProxyProtocol bool `yaml:"proxyProtocol" default:"false" example:"true"`
	// How they find out whether a target works.
	HealthCheck HealthCheck `yaml:"healthCheck"`
}

// Volumes are volumes of pods in Hetzner Cloud.
type Volumes struct {
	// The storage classes.
	StorageClasses []StorageClass `yaml:"storageClasses" otherwise:"hcloud-volumes-encrypted, the default, and hcloud-volumes"`
	// Labels of the volumes in Hetzner Cloud.
	Labels map[string]string `yaml:"labels" keyFormat:"labelKey" format:"labelValue" otherwise:"none" example:"{team: data}"`
}

// StorageClass is a kind of volume that pods can ask for.
type StorageClass struct {
	// Its name.
	Name string `yaml:"name" required:"true" format:"dnsName" example:"hcloud-volumes-xfs"`
	// Whether volumes are encrypted, with LUKS and one passphrase for all. A
	// volume that exists does not change.
	Encrypted bool `yaml:"encrypted" default:"false" example:"true"`
	// Whether it is for those who name no class.
	Default bool `yaml:"default" default:"false" example:"true"`
	// What happens to a volume that no claim uses any more.
	ReclaimPolicy string `yaml:"reclaimPolicy" default:"Delete" enum:"Delete,Retain" example:"Retain"`
	// Parameters for the driver in addition. A change needs the class to be made
	// again.
	Parameters map[string]string `yaml:"parameters" otherwise:"none" example:"{csi.storage.k8s.io/fstype: xfs}"`
}

// Firewall says who reaches the nodes by their public addresses. What no rule
// lets in is dropped. Hetzner filters neither the private network nor load
// balancers.
type Firewall struct {
	// From where the Kubernetes and the Talos API may be used.
	APISource []string `yaml:"apiSource" format:"cidr" otherwise:"see useCurrentIpv4 and useCurrentIpv6" example:"[203.0.113.0/24]"`
	// From where the Kubernetes API may be used, instead of apiSource.
	KubeAPISource []string `yaml:"kubeApiSource" format:"cidr" otherwise:"apiSource" example:"[203.0.113.7/32]"`
	// From where the Talos API may be used, instead of apiSource.
	TalosAPISource []string `yaml:"talosApiSource" format:"cidr" otherwise:"apiSource" example:"[203.0.113.7/32]"`
	// Whether the IPv4 address of the machine that runs apply may use both, for as long
	// as it runs.
	UseCurrentIPv4 *bool `yaml:"useCurrentIpv4" otherwise:"true if access is public and no source is given" example:"false"`
	// The same for its IPv6 address.
	UseCurrentIPv6 *bool `yaml:"useCurrentIpv6" otherwise:"true if access is public and no source is given" example:"false"`
	// Rules in addition to those for the APIs.
	ExtraRules []FirewallRule `yaml:"extraRules" otherwise:"none"`
	// The id of a firewall that exists already, to use instead of making one.
	ExistingID int `yaml:"existingId" min:"1" max:"9007199254740991" otherwise:"a firewall of the cluster's own" example:"1234567"`
	// How the existing firewall comes to the servers: by a label selector, which is
	// added to it, or at each server by itself, so that nothing is changed about it.
	ApplyTo string `yaml:"applyTo" default:"selector" enum:"selector,servers" example:"servers"`
	// Set this if a restriction of the Kubernetes API's sources is meant for
	// the nodes only, while its public load balancer is open to everyone.
	AcknowledgeOpenLoadBalancer bool `yaml:"acknowledgeOpenLoadBalancer" default:"false" example:"true"`
}

// FirewallRule is a rule of the firewall.
type FirewallRule struct {
	// What it is for.
	Description string `yaml:"description" required:"true" format:"description" example:"game server"`
	// Whether it is about what comes in or what goes out. With a rule for what
	// goes out, Hetzner drops everything else that goes out.
	Direction string `yaml:"direction" default:"in" enum:"in,out" example:"in"`
	// The protocol.
	Protocol string `yaml:"protocol" required:"true" enum:"tcp,udp,icmp,esp,gre" example:"tcp"`
	// The port, a range of ports, or any. Required for tcp and udp, and only
	// for them.
	Port string `yaml:"port" format:"portRange" example:"8080-8090"`
	// Where packets that come in come from.
	SourceIPs []string `yaml:"sourceIps" format:"cidr" otherwise:"required for direction in" example:"[0.0.0.0/0, '::/0']"`
	// Where packets that go out go to.
	DestinationIPs []string `yaml:"destinationIps" format:"cidr" otherwise:"required for direction out" example:"[203.0.113.0/24]"`
}

// APILoadBalancer is the load balancer of the Kubernetes API.
type APILoadBalancer struct {
	// Whether there is one.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// Its type.
	Type string `yaml:"type" default:"lb11" format:"identifier" example:"lb21"`
	// Where it is.
	Location string `yaml:"location" format:"identifier" otherwise:"hetzner.region" example:"fsn1"`
	// Whether it has public addresses, which no firewall filters.
	PublicNetwork *bool `yaml:"publicNetwork" otherwise:"true if access is public" example:"false"`
}

// ReverseDNS are names for public addresses. In a name, {{ cluster-name }},
// {{ cluster-domain }}, {{ hostname }}, {{ pool }}, {{ role }}, {{ id }},
// {{ ip-type }} and {{ ip-labels }} stand for what they say.
type ReverseDNS struct {
	// The name of both addresses. In it, {{ cluster-name }}, {{ cluster-domain
	// }}, {{ hostname }}, {{ pool }}, {{ role }}, {{ id }}, {{ ip-type }} and
	// {{ ip-labels }} stand for what they say.
	Name string `yaml:"name" format:"rdnsTemplate" otherwise:"that of the cluster, else Hetzner's own" example:"'{{ hostname }}.{{ ip-type }}.example.com'"`
	// The name of the IPv4 address.
	IPv4 string `yaml:"ipv4" format:"rdnsTemplate" otherwise:"name" example:"'{{ hostname }}.example.com'"`
	// The name of the IPv6 address.
	IPv6 string `yaml:"ipv6" format:"rdnsTemplate" otherwise:"name" example:"'{{ hostname }}.example.com'"`
}

// DNS are records in zones of Hetzner DNS.
type DNS struct {
	// The records.
	Records []DNSRecord `yaml:"records" otherwise:"none"`
}

// DNSRecord is a name in a zone that leads to a part of the cluster: an A and
// an AAAA record, as far as there are addresses.
type DNSRecord struct {
	// The zone, which exists already.
	Zone string `yaml:"zone" required:"true" format:"dnsName" example:"example.com"`
	// The name in the zone; @ is the zone itself.
	Name string `yaml:"name" required:"true" format:"recordName" example:"api.k8s"`
	// Where it leads to: the Kubernetes API by its load balancer, floating IP
	// or control planes, the control planes themselves, or the load balancers
	// of ingress.
	Target string `yaml:"target" default:"api" enum:"api,controlPlane,ingress" example:"ingress"`
	// How many seconds it may be remembered.
	TTL int `yaml:"ttl" default:"300" min:"60" max:"2147483647" example:"60"`
}

// Images are the disk images of the servers: snapshots with Talos.
type Images struct {
	// For servers with x86 processors.
	AMD64 Image `yaml:"amd64"`
	// For servers with Arm processors, whose types begin with cax.
	ARM64 Image `yaml:"arm64"`
}

// Image says how the disk image of an architecture is found or made.
type Image struct {
	// Whether apply makes the snapshot if there is none.
	Build bool `yaml:"build" default:"true" example:"false"`
	// Which snapshot is taken: the one with exactly this Talos version and
	// schematic, or the latest one with this schematic.
	Selector string `yaml:"selector" default:"exact" enum:"exact,latest" example:"latest"`
	// The type of the server that makes the snapshot. Its disk must not be larger
	// than those of the servers.
	BuilderType string `yaml:"builderType" format:"identifier" otherwise:"the cheapest that is sold where the servers are, or near them" example:"cpx22"`
	// Where that server is, for some minutes. Snapshots can be used in all
	// locations.
	BuilderLocation string `yaml:"builderLocation" format:"identifier" otherwise:"one of the locations of the servers, or near them" example:"hel1"`
}

// Robot is the account for dedicated servers. Its user and password are secret
// variables.
type Robot struct {
	// The secret variable that holds the user.
	UserVariable string `yaml:"userVariable" format:"variable" otherwise:"none" example:"ROBOT_USER"`
	// The secret variable that holds the password.
	PasswordVariable string `yaml:"passwordVariable" format:"variable" otherwise:"none" example:"ROBOT_PASSWORD"`
	// The URL of its API.
	APIURL string `yaml:"apiUrl" default:"https://robot-ws.your-server.de" format:"url" example:"https://robot.example.com"`
}
