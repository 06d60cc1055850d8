package schemas

// What gives addresses to Services, and how nodes announce them.
const (
	CiliumAddresses = "cilium"
	MetalLB         = "metallb"
	L2              = "l2"
	BGPRoutes       = "bgp"
)

// ServiceAddresses lets Services of type LoadBalancer have addresses of your network.
// Provider static only: in Hetzner Cloud the cloud controller makes load balancers.
type ServiceAddresses struct {
	// What gives them out and announces them: Cilium, if it is the network of the
	// pods, or MetalLB.
	Implementation string `yaml:"implementation" default:"none" enum:"none,cilium,metallb" example:"cilium"`
	// The addresses: ranges and subnets of your network that nothing else has.
	Addresses []string `yaml:"addresses" format:"addressRange" otherwise:"none; required with an implementation" example:"[192.168.1.240-192.168.1.250, 192.168.2.0/28]"`
	// How the network learns where they are: a node answers for each (l2), or nodes
	// tell routers (bgp).
	Announce string `yaml:"announce" default:"l2" enum:"l2,bgp" example:"bgp"`
	// The links of nodes that answer, for l2.
	Interfaces []string `yaml:"interfaces" format:"linkName" otherwise:"all" example:"[eth0]"`
	// The routers, for bgp.
	BGP BGP `yaml:"bgp"`
}

// BGP describes routers that nodes announce addresses to.
type BGP struct {
	// The number of the autonomous system of the nodes.
	ASN int `yaml:"asn" min:"1" max:"4294967295" otherwise:"none; required with announce: bgp" example:"64512"`
	// The routers.
	Peers []BGPPeer `yaml:"peers" otherwise:"none; required with announce: bgp"`
}

// BGPPeer is a router.
type BGPPeer struct {
	// Its address.
	Address string `yaml:"address" required:"true" format:"ip" example:"192.168.1.1"`
	// The number of its autonomous system.
	ASN int `yaml:"asn" required:"true" min:"1" max:"4294967295" example:"64513"`
}
