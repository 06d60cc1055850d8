package schemas

// ClusterVersion is the version of the format of cluster.yaml.
const ClusterVersion = "talosgen.dev/v1alpha1"

// Providers.
const (
	Hetzner = "hetzner"
	Static  = "static"
)

// Cluster is the content of envs/<env>/cluster.yaml: the topology and the
// features of one environment. A variable of cluster.env, written ${NAME}, can
// stand in any value.
type Cluster struct {
	// The version of this format.
	APIVersion string `yaml:"apiVersion" default:"talosgen.dev/v1alpha1" enum:"talosgen.dev/v1alpha1" example:"talosgen.dev/v1alpha1"`
	// The name of the cluster. It begins the names of nodes and of everything
	// that belongs to the cluster, and cannot change later.
	ClusterName string `yaml:"clusterName" required:"true" format:"clusterName" example:"talos-k8s"`
	// Where the nodes come from: hetzner makes servers in Hetzner Cloud, static
	// takes machines that exist already.
	Provider string `yaml:"provider" default:"hetzner" enum:"hetzner,static" example:"static"`
	// The URL of the Kubernetes API, with its port. Every node must reach it.
	Endpoint string `yaml:"endpoint" required:"true" format:"endpoint" example:"https://10.0.0.10:6443"`
	// Where secrets come from.
	Secrets Secrets `yaml:"secrets"`
	// The address ranges of the cluster.
	Network Network `yaml:"network"`
	// The operating system of the nodes.
	Talos Talos `yaml:"talos" required:"true"`
	// Kubernetes.
	Kubernetes Kubernetes `yaml:"kubernetes" required:"true"`
	// Hetzner Cloud; only for provider hetzner.
	Hetzner HetznerCloud `yaml:"hetzner"`
	// The nodes, in pools of equal ones.
	Nodes Nodes `yaml:"nodes" required:"true"`
}

// Secrets says where secrets come from.
type Secrets struct {
	// An age key in the repository, relative to the directory of this file, for
	// examples that everyone may read. A real environment has no such key.
	ExampleKeyFile string `yaml:"exampleKeyFile" format:"relativePath" example:"../example.agekey"`
}

// Network holds the address ranges of a cluster. No two of them overlap.
type Network struct {
	// The ranges of pod addresses, at most one for each IP version.
	PodCidrs []string `yaml:"podCidrs" format:"cidr" otherwise:"10.244.0.0/16; fc00:db8:10::/56 if the endpoint is an IPv6 address" example:"[10.244.0.0/16]"`
	// The ranges of service addresses, at most one for each IP version.
	ServiceCidrs []string `yaml:"serviceCidrs" format:"cidr" otherwise:"10.96.0.0/12; fc00:db8:20::/112 if the endpoint is an IPv6 address" example:"[10.96.0.0/12]"`
	// The subnets in which nodes live. The kubelet takes the node's address
	// from them.
	NodeCidrs []string `yaml:"nodeCidrs" format:"cidr" otherwise:"the kubelet chooses an address" example:"[10.0.64.0/19]"`
	// The domain of the cluster's own DNS.
	DNSDomain string `yaml:"dnsDomain" default:"cluster.local" format:"dnsName" example:"k8s.example.com"`
}

// Talos describes the operating system of the nodes.
type Talos struct {
	// The version of Talos.
	Version string `yaml:"version" required:"true" format:"version" example:"v1.14.1"`
	// The version whose vocabulary the machine configurations use, not newer
	// than version. Set it to stay with the old vocabulary for a while.
	ConfigContract string `yaml:"configContract" format:"minorVersion" otherwise:"that of version" example:"v1.13"`
	// Official system extensions. Together with the kernel arguments they make
	// the schematic, whose id is computed without asking the Image Factory.
	Extensions []string `yaml:"extensions" format:"extension" otherwise:"none" example:"[siderolabs/qemu-guest-agent]"`
	// Kernel arguments, in order, one in each item. They go into the schematic.
	ExtraKernelArgs []string `yaml:"extraKernelArgs" format:"kernelArg" otherwise:"none" example:"[net.ifnames=0]"`
	// The id of a schematic, instead of extensions and kernel arguments.
	Schematic string `yaml:"schematic" format:"schematic" otherwise:"computed" example:"376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"`
	// The registry of the Image Factory that installer images come from.
	ImageFactory string `yaml:"imageFactory" default:"factory.talos.dev" format:"registry" example:"factory.example.com"`
}

// Kubernetes describes Kubernetes itself.
type Kubernetes struct {
	// The version of Kubernetes.
	Version string `yaml:"version" required:"true" format:"version" example:"1.36.0"`
}

// HetznerCloud says where in Hetzner Cloud the cluster is.
type HetznerCloud struct {
	// The location of servers, load balancers and volumes.
	Region string `yaml:"region" format:"identifier" example:"hel1"`
	// The zone of the private network.
	NetworkZone string `yaml:"networkZone" format:"identifier" example:"eu-central"`
}

// Nodes are the pools of a cluster.
type Nodes struct {
	// The control plane, a pool named control-plane.
	ControlPlane ControlPlane `yaml:"controlPlane" required:"true"`
	// The workers.
	Workers Workers `yaml:"workers"`
}

// Workers are the pools of workers.
type Workers struct {
	// The pools of workers.
	NodePools []WorkerPool `yaml:"nodepools" otherwise:"none"`
}

// ControlPlane is the pool of control plane nodes.
type ControlPlane struct {
	Pool
	// Whether ordinary pods may run on control plane nodes.
	AllowScheduling *bool `yaml:"allowScheduling" otherwise:"true if there are no workers" example:"true"`
}

// WorkerPool is a pool of workers.
type WorkerPool struct {
	// The name of the pool, unique in the cluster. Nodes are named
	// <clusterName>-<pool>-<index>.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"worker-1"`
	Pool
}

// Pool is a set of equal nodes.
type Pool struct {
	// How many nodes the pool has, with indexes from 1. Provider hetzner only.
	Count *int `yaml:"count" min:"0" max:"9999" otherwise:"as many as indexes" example:"3"`
	// The indexes of the nodes, instead of count, so that a node in the middle
	// can go. Provider hetzner only.
	Indexes []int `yaml:"indexes" min:"1" max:"9999" otherwise:"1 to count" example:"[1, 2, 4]"`
	// The server type. Provider hetzner only.
	Type string `yaml:"type" format:"identifier" example:"cpx21"`
	// Kubernetes labels of the nodes.
	Labels map[string]string `yaml:"labels" keyFormat:"labelKey" format:"labelValue" otherwise:"none" example:"{example.com/tier: web}"`
	// Kubernetes annotations of the nodes.
	Annotations map[string]string `yaml:"annotations" keyFormat:"labelKey" otherwise:"none" example:"{example.com/owner: team a}"`
	// Kubernetes taints of the nodes, as key=value:Effect or key:Effect.
	Taints []string `yaml:"taints" format:"taint" otherwise:"none" example:"['example.com/dedicated=db:NoSchedule']"`
	// The disk that Talos is installed to. Required for static nodes, here or
	// at each node.
	InstallDisk string `yaml:"installDisk" format:"devicePath" otherwise:"/dev/sda on hetzner" example:"/dev/nvme0n1"`
	// The machines of the pool. Provider static only.
	Nodes []StaticNode `yaml:"nodes" otherwise:"none"`
}

// StaticNode is a machine that exists already.
type StaticNode struct {
	// The name of the node and its hostname, unique in the cluster.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"nas"`
	// How to recognise the machine before it is given a configuration.
	Match Match `yaml:"match" required:"true"`
	// Its address before it is configured.
	BootAddress string `yaml:"bootAddress" format:"ip" otherwise:"that of address" example:"192.168.1.50"`
	// Its final address, with the length of the subnet's prefix.
	Address string `yaml:"address" format:"ipPrefix" otherwise:"from DHCP" example:"192.168.1.10/24"`
	// The default gateway that goes with address.
	Gateway string `yaml:"gateway" format:"ip" otherwise:"no default route" example:"192.168.1.1"`
	// The network link that gets address.
	Interface string `yaml:"interface" format:"linkName" otherwise:"the first physical link" example:"eth0"`
	// The disk that Talos is installed to.
	InstallDisk string `yaml:"installDisk" format:"devicePath" otherwise:"that of the pool" example:"/dev/nvme0n1"`
	// Kubernetes labels in addition to those of the pool; they win over them.
	Labels map[string]string `yaml:"labels" keyFormat:"labelKey" format:"labelValue" otherwise:"none" example:"{example.com/disk: ssd}"`
	// Kubernetes annotations in addition to those of the pool; they win over them.
	Annotations map[string]string `yaml:"annotations" keyFormat:"labelKey" otherwise:"none" example:"{example.com/rack: r1}"`
	// Kubernetes taints in addition to those of the pool; they win over those
	// with the same key.
	Taints []string `yaml:"taints" format:"taint" otherwise:"none" example:"['example.com/slow:PreferNoSchedule']"`
}

// Match holds what identifies a machine. Everything that is given must match;
// at least one is.
type Match struct {
	// The MAC address of one of its network cards.
	MAC string `yaml:"mac" format:"mac" example:"'52:54:00:12:34:56'"`
	// The UUID in its SMBIOS data.
	UUID string `yaml:"uuid" format:"uuid" example:"4c4c4544-0051-3010-8052-b4c04f4d3132"`
	// The serial number in its SMBIOS data.
	Serial string `yaml:"serial" format:"serial" example:"5QX0RM2"`
}
