package schemas

// Nodes are the pools of a cluster.
type Nodes struct {
	// The control plane: a pool named control-plane, and those that it lists. The
	// first one may be left out if there are others.
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
	Pool `yaml:",inline"`
	// More pools of control plane nodes, in the same subnet, each with an offset
	// of its own: other server types, labels, taints, disks or patches. All nodes
	// are one etcd, and are counted together.
	NodePools []ControlPlanePool `yaml:"nodepools" otherwise:"none"`
	// Whether a floating IP, an address of its own that moves to a living
	// node, leads to the Kubernetes API. Nodes move it by Hetzner's API, as
	// with privateVip, once facts.yaml says which address it is. Provider
	// hetzner only.
	FloatingIP bool `yaml:"floatingIp" default:"false" example:"true"`
	// The id of a floating IP that exists already, to use instead of a new one.
	FloatingIPID int `yaml:"floatingIpId" min:"1" max:"9007199254740991" otherwise:"a new floating IP" example:"12345678"`
	// Whether the nodes share an address in the private network for the
	// Kubernetes API. Nodes move it by Hetzner's API, so the secret variable
	// HCLOUD_TOKEN goes into their configurations. Provider hetzner only.
	PrivateVIP *bool `yaml:"privateVip" otherwise:"true if neither endpoint nor hetzner.apiLoadBalancer gives another way" example:"false"`
	// An address in the subnet of the nodes that they share for the Kubernetes
	// API, announced on their link. Provider static only.
	VIP string `yaml:"vip" format:"ip" otherwise:"none" example:"192.168.1.5"`
	// Whether ordinary pods may run on control plane nodes, and load balancers of
	// services lead there.
	AllowScheduling *bool `yaml:"allowScheduling" otherwise:"true if there are no workers" example:"true"`
	// Set this while there is an even number of control plane nodes for a time,
	// such as between the removal of a broken one and its successor.
	AcknowledgeEvenCount bool `yaml:"acknowledgeEvenCount" default:"false" example:"true"`
}

// ControlPlanePool is a pool of control plane nodes beside the first one.
type ControlPlanePool struct {
	// The name of the pool, unique in the cluster. Nodes are named
	// <clusterName>-<pool>-<index>.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"control-plane-arm"`
	Pool `yaml:",inline"`
}

// WorkerPool is a pool of workers.
type WorkerPool struct {
	// The name of the pool, unique in the cluster. Nodes are named
	// <clusterName>-<pool>-<index>.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"worker-1"`
	Pool `yaml:",inline"`
	// Whether Hetzner spreads the servers over hosts, in placement groups of
	// ten. Control planes always are. Provider hetzner only.
	PlacementGroup bool `yaml:"placementGroup" default:"true" example:"false"`
	// A subnet of the pool's own, inside of network.nodeCidrs. Provider hetzner
	// only.
	Subnet string `yaml:"subnet" format:"cidr" otherwise:"the one that pools of workers share" example:"10.0.65.0/25"`
	// How many nodes the pool has beside its own while some of these are recreated:
	// with 1, the node with the next index is made and joins first, and leaves when
	// they are done, so that the pool never has fewer than its own. Provider hetzner
	// only.
	MaxSurge int `yaml:"maxSurge" min:"0" max:"1" default:"0" example:"1"`
}

// NodeVolume is a volume of Hetzner Cloud that each node of a pool has for itself.
type NodeVolume struct {
	// Its name on the node: it is mounted at /var/mnt/<name>, as the user volume of that
	// name.
	Name string `yaml:"name" required:"true" format:"volumeName" example:"data"`
	// Its size in GB, which no other volume of the node has: by that Talos finds it. It can
	// grow, and never shrinks.
	Size int `yaml:"size" required:"true" min:"10" max:"10240" example:"50"`
}

// Pool is a set of equal nodes.
type Pool struct {
	// How many nodes the pool has, with indexes from 1. Provider hetzner only.
	Count *int `yaml:"count" min:"0" max:"9999" otherwise:"as many as indexes" example:"3"`
	// The indexes of the nodes, instead of count, so that a node in the middle
	// can go. Provider hetzner only.
	Indexes []int `yaml:"indexes" min:"1" max:"9999" otherwise:"1 to count" example:"[1, 2, 4]"`
	// The server type. Required with provider hetzner, and only for it.
	Type string `yaml:"type" format:"identifier" example:"cpx22"`
	// Server types to try, in order, if Hetzner has none of type left. Of the
	// same architecture. Provider hetzner only.
	FallbackTypes []string `yaml:"fallbackTypes" format:"identifier" otherwise:"none" example:"[cpx32, ccx13]"`
	// Where the servers are. Provider hetzner only.
	Location string `yaml:"location" format:"identifier" otherwise:"hetzner.region" example:"fsn1"`
	// Instead of location: where the servers are, in turn. The node with index
	// 1 is in the first one, and so on, and none moves when the count changes.
	// Provider hetzner only.
	Locations []string `yaml:"locations" format:"identifier" otherwise:"location for all" example:"[fsn1, nbg1, hel1]"`
	// Where to try, in order, if no server is to be had in its location.
	// Provider hetzner only.
	FallbackLocations []string `yaml:"fallbackLocations" format:"identifier" otherwise:"none" example:"[nbg1]"`
	// Where in the subnet the addresses of the pool begin: a node has the
	// address offset + index + 1. Recorded, so that no address moves when other
	// pools change. Provider hetzner only.
	Offset *int `yaml:"offset" min:"0" max:"65000" otherwise:"0" example:"20"`
	// Addresses of nodes in the private network that do not follow from the
	// offset, by index, such as those of servers that were adopted. In the subnet
	// of the pool; a server that lives keeps the one that it has. Provider hetzner
	// only.
	PrivateIPs map[string]string `yaml:"privateIps" keyFormat:"index" format:"ip" otherwise:"offset + index + 1 in the subnet" example:"{'1': 10.0.64.11}"`
	// Names of nodes that do not follow from the pool, by index, such as those of
	// servers that were adopted: of the server, and of the node. Provider hetzner only.
	Names map[string]string `yaml:"names" keyFormat:"index" format:"dnsLabel" otherwise:"<clusterName>-<pool>-<index>" example:"{'1': control-plane-1}"`
	// Placement groups of nodes that do not follow from the pool, by index: the name
	// of the group, or none. Provider hetzner only.
	PlacementGroups map[string]string `yaml:"placementGroups" keyFormat:"index" format:"resourceName" otherwise:"<clusterName>-<pool>-pg-1 for the first ten, and so on" example:"{'1': control-plane}"`
	// Whether Hetzner makes backups of the disks. Provider hetzner only.
	Backups bool `yaml:"backups" default:"false" example:"true"`
	// Whether the disk keeps its size when a server gets a larger type, so that
	// it can get its old type back. Provider hetzner only.
	KeepDisk bool `yaml:"keepDisk" default:"false" example:"true"`
	// Whether the public addresses of the servers stay when these are made anew: they
	// are primary IPs of their own, named <node>-ipv4 and <node>-ipv6, which Hetzner
	// does not delete with a server. They stay in their location. Provider hetzner
	// only.
	KeepPrimaryIPs bool `yaml:"keepPrimaryIps" default:"false" example:"true"`
	// Volumes of Hetzner Cloud that each node has for itself, at most 16, with the names
	// <node>-<name>. They are mounted at /var/mnt/<name>, and outlive the servers.
	// Provider hetzner only.
	Volumes []NodeVolume `yaml:"volumes" otherwise:"none" example:"[{name: data, size: 50}]"`
	// Names for the public addresses of the servers. Provider hetzner only.
	ReverseDNS ReverseDNS `yaml:"rdns"`
	// Kubernetes labels of the nodes.
	Labels map[string]string `yaml:"labels" keyFormat:"labelKey" format:"labelValue" otherwise:"none" example:"{example.com/tier: web}"`
	// Kubernetes annotations of the nodes.
	Annotations map[string]string `yaml:"annotations" keyFormat:"labelKey" otherwise:"none" example:"{example.com/owner: team a}"`
	// Kubernetes taints of the nodes, as key=value:Effect or key:Effect.
	Taints []string `yaml:"taints" format:"taint" otherwise:"none" example:"['example.com/dedicated=db:NoSchedule']"`
	// The disk that Talos is installed to, as a path or a link in /dev/disk.
	// Required for static nodes, here, at each node, as a diskSelector, or in a
	// patch.
	InstallDisk string `yaml:"installDisk" format:"devicePath" otherwise:"that of diskSelector, else /dev/sda on hetzner" example:"/dev/nvme0n1"`
	// What the disk is like that Talos is installed to, instead of installDisk.
	DiskSelector DiskSelector `yaml:"diskSelector"`
	NodeImage    `yaml:",inline"`
	Boot         `yaml:",inline"`
	// The machines of the pool. With provider static, or of a pool of workers beside
	// servers of Hetzner Cloud: dedicated servers, which a vSwitch connects.
	Nodes []StaticNode `yaml:"nodes" otherwise:"none"`
}

// StaticNode is a machine that exists already.
type StaticNode struct {
	// The name of the node and its hostname, unique in the cluster.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"nas"`
	// How to recognise the machine before it is given a configuration.
	Match Match `yaml:"match" required:"true"`
	// Its address before it is configured. Of a dedicated server the public one, by which
	// it is reached at first.
	BootAddress string `yaml:"bootAddress" format:"ip" otherwise:"that of address" example:"192.168.1.50"`
	// Its final address, with the length of the subnet's prefix. Of a dedicated server
	// the public one.
	Address string `yaml:"address" format:"ipPrefix" otherwise:"from DHCP" example:"192.168.1.10/24"`
	// The default gateway that goes with address.
	Gateway string `yaml:"gateway" format:"ip" otherwise:"no default route" example:"192.168.1.1"`
	// The network link that gets address.
	Interface string `yaml:"interface" format:"linkName" otherwise:"the one with the MAC address of match" example:"eth0"`
	// The VLAN of address on that link. Provider static only.
	VLANID int `yaml:"vlanId" min:"1" max:"4094" otherwise:"none" example:"100"`
	// The largest packet on that link. Provider static only.
	MTU int `yaml:"mtu" min:"576" max:"9216" otherwise:"that of the link" example:"9000"`
	// Routes in addition to the default one.
	Routes []Route `yaml:"routes" otherwise:"none"`
	// The number of a dedicated server in its pool: in the private network it has the
	// address offset + index + 1, in the subnet behind the vSwitch. Provider hetzner only.
	Index int `yaml:"index" min:"1" max:"9999" otherwise:"none: give privateIp" example:"1"`
	// The private address of a dedicated server, in the subnet behind the vSwitch.
	// Provider hetzner only.
	PrivateIP string `yaml:"privateIp" format:"ip" otherwise:"offset + index + 1 in the subnet" example:"10.0.88.11"`
	// The number of a dedicated server at Hetzner Robot: with it, talosgen install puts
	// Talos on the server.
	RobotServer int `yaml:"robotServer" min:"1" max:"9007199254740991" otherwise:"not known" example:"321"`
	// The disk that Talos is installed to.
	InstallDisk string `yaml:"installDisk" format:"devicePath" otherwise:"that of the pool" example:"/dev/nvme0n1"`
	// What the disk is like that Talos is installed to, instead of installDisk.
	// It takes the place of the pool's as a whole.
	DiskSelector DiskSelector `yaml:"diskSelector"`
	NodeImage    `yaml:",inline"`
	Boot         `yaml:",inline"`
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
	// The fingerprint of the key that it shows in maintenance mode, as its console
	// does: nothing is sent to a machine that has another one. It is a new one with
	// each start of the machine; once the machine is configured it does not matter.
	Fingerprint string `yaml:"fingerprint" format:"fingerprint" otherwise:"nothing proves who answers at first" example:"cBoPHCpSUqN0nBwHaWuFsj2+MCnsYMvFsALAmB4pB0k="`
}

// NodeImage is what a pool or a node adds to the Talos image of its cluster.
type NodeImage struct {
	// Official system extensions in addition to talos.extensions; those of a
	// node in addition to those of its pool.
	Extensions []string `yaml:"extensions" format:"extension" otherwise:"none" example:"[siderolabs/iscsi-tools]"`
	// Kernel arguments after those of talos.extraKernelArgs; those of a node
	// after those of its pool.
	ExtraKernelArgs []string `yaml:"extraKernelArgs" format:"kernelArg" otherwise:"none" example:"[mitigations=off]"`
	// The id of a schematic, instead of all extensions and kernel arguments of
	// the cluster and the pool.
	Schematic string `yaml:"schematic" format:"schematic" otherwise:"computed" example:"376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"`
}

// Boot says which variant of the Talos image a machine boots.
type Boot struct {
	// Whether the machine boots with secure boot: its installer and its images
	// are the signed ones. A machine that lives is not changed to it. Provider
	// static only.
	SecureBoot *bool `yaml:"secureBoot" otherwise:"that of the pool, else false" example:"true"`
	// The platform of the image, for machines that others provide. Provider
	// static only.
	Platform string `yaml:"platform" enum:"metal,akamai,alibabacloud,aws,azure,cloudstack,digital-ocean,equinixMetal,exoscale,gcp,hcloud,nocloud,opennebula,openstack,oracle,scaleway,upcloud,vmware,vultr" otherwise:"that of the pool, else metal" example:"nocloud"`
	// What a single-board computer needs beside Talos; it goes into the
	// schematic. Provider static only.
	Overlay Overlay `yaml:"overlay"`
}

// Overlay is a part of an image for single-board computers.
type Overlay struct {
	// Its name. Required with image.
	Name string `yaml:"name" format:"overlay" otherwise:"that of the pool, else none" example:"rpi_generic"`
	// The image that it is in. Required with name.
	Image string `yaml:"image" format:"extension" otherwise:"that of the pool, else none" example:"siderolabs/sbc-raspberrypi"`
}
