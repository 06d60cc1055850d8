package infra

import (
	"net/netip"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Input is the topology of a cluster on Hetzner Cloud, with the defaults of
// cluster.yaml filled in and everything else open.
type Input struct {
	Cluster          string
	Location         string // where things are that name no location of their own
	NetworkZone      string
	SSHKeys          []string
	DeleteProtection bool

	Ranges          Ranges // zero values are resolved
	ExistingNetwork int64  // id of a network that is not the cluster's own
	ExtraRoutes     []schemas.InfraRoute
	VSwitchID       int64
	// Public addresses of nodes.
	PublicIPv4, PublicIPv6 bool
	// LinkDocuments says that the cluster's Talos has documents for links: 1.12.
	LinkDocuments bool

	Firewall   Firewall
	FloatingIP bool // a public one
	API        APIBalancer
	Pools      []Pool
	Autoscaled bool // servers are added by the autoscaler

	Ingress []IngressPool

	Image Image
	RDNS  schemas.InfraReverseDNS // for what has no template of its own
}

// Firewall says who may reach the nodes from outside.
type Firewall struct {
	KubernetesSources []netip.Prefix // of the Kubernetes API; none: only sessions of apply
	TalosSources      []netip.Prefix
	KubeSpan          bool // WireGuard between nodes, by Talos
	CiliumWireGuard   bool // WireGuard between nodes, by Cilium
	Extra             []schemas.InfraRule
}

// APIBalancer is the load balancer of the Kubernetes API.
type APIBalancer struct {
	Enabled bool
	Public  bool // reachable from outside; Hetzner's firewalls do not filter it
	Type    string
	// AcknowledgeOpen says that the user knows that the sources of the
	// Kubernetes API do not restrict a public load balancer.
	AcknowledgeOpen bool
	Pos             diag.Pos
}

// IngressPool is a set of load balancers that lead to the ingress controllers of
// a pool of workers.
type IngressPool struct {
	Name          string
	Count         int
	Type          string
	Location      string
	Algorithm     string
	Public        bool
	ProxyProtocol bool
	// Pools whose nodes are targets, autoscaled ones included.
	Pools []string
	RDNS  schemas.InfraReverseDNS
	Pos   diag.Pos
}

// Pool is a set of equal nodes.
type Pool struct {
	Name           string
	Role           string // controlplane or worker
	Types          []string
	Locations      []string
	Subnet         netip.Prefix // its own; zero for the shared one
	Offset         int
	PlacementGroup bool
	Backups        bool
	KeepDisk       bool
	RDNS           schemas.InfraReverseDNS
	Nodes          []Node
	Pos            diag.Pos // where the pool is described
}

// Node is a node of a pool.
type Node struct {
	Name  string
	Index int // from 1
}

// Image selects the snapshots of the cluster's Talos.
type Image struct {
	TalosVersion string // v1.14.1
	Schematic    string
	AnyVersion   bool // the newest image of the schematic, whatever its Talos
}
