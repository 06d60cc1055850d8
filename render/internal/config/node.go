package config

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Roles of nodes.
const (
	ControlPlane = "controlplane"
	Worker       = "worker"
)

// ControlPlanePool is the name of the pool of control plane nodes.
const ControlPlanePool = "control-plane"

// Node is one node with everything that its pool says about it. Nodes of a pool
// may share maps and slices: they are not to be changed.
type Node struct {
	Name        string
	Role        string // ControlPlane or Worker
	Pool        string
	Index       int    // its number in the pool; 0 for a static node that has none
	Type        string // server type; empty if static or not set
	Labels      map[string]string
	Annotations map[string]string
	Taints      []Taint // no two with the same key
	InstallDisk string  // empty if its disk is selected otherwise
	// DiskSelector says what the disk is like; the zero value if InstallDisk says which.
	DiskSelector schemas.DiskSelector
	image        schemas.NodeImage // what the pool and the node say
	Platform     string            // of Talos

	// For servers of Hetzner Cloud, zero otherwise; dedicated ones beside them have what is
	// about addresses.
	FallbackTypes     []string // to try if there is none of Type
	Location          string
	FallbackLocations []string     // to try if there is none in Location
	PrivateIP         netip.Addr   // its address in the private network
	Pinned            bool         // whether the file gives it, and not its place in the pool
	Subnet            netip.Prefix // the pool's own; zero if it is in that of its role
	Offset            int          // of the pool's addresses in the subnet
	PlacementGroup    bool         // whether it is in one
	Group             string       // that one, if the file gives it
	Backups           bool
	KeepDisk          bool
	KeepPrimaryIPs    bool
	Volumes           []schemas.NodeVolume
	ReverseDNS        schemas.ReverseDNS // templates; empty texts if the pool has none

	// Autoscaled says that this stands for all servers that the autoscaler makes
	// for a pool, none of which has a name or an address yet.
	Autoscaled bool

	// Surge says that the node is there only while others of its pool are recreated.
	Surge bool

	// Dedicated says that the node is a dedicated server beside servers of Hetzner Cloud,
	// which a vSwitch connects with the network. It exists already, as static nodes do.
	Dedicated   bool
	RobotServer int // its number at Hetzner Robot; 0 if that is not known

	// For static nodes and dedicated servers, zero otherwise.
	Match       schemas.Match
	BootAddress netip.Addr   // where it is before it is configured
	Address     netip.Prefix // where it is afterwards, of a dedicated server to the public; zero if DHCP says
	Gateway     netip.Addr
	Interface   string
	VLAN        int
	MTU         int
	Routes      []schemas.Route
	SecureBoot  bool
	Overlay     schemas.Overlay

	config *Config
	paths  [][]string // where it is described: its own path, then its pool's
}

// Taint is a Kubernetes taint.
type Taint struct {
	Key    string
	Value  string
	Effect string
	Pos    diag.Pos
}

// Pos is the place of a value of the node, such as "labels", "example.com/tier":
// where the node sets it, else where its pool does. If neither does, the line
// is 0.
func (n Node) Pos(path ...string) diag.Pos {
	for _, base := range n.paths {
		if full := slices.Concat(base, path); n.config.has(full...) {
			return n.config.Pos(full...)
		}
	}
	return diag.Pos{File: n.config.file}
}

// Arm tells whether a server type of Hetzner Cloud has an Arm processor.
func Arm(serverType string) bool {
	digits, ok := strings.CutPrefix(serverType, "cax")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// AutoscaledNodes stand for the servers that the autoscaler makes: one for each
// of its pools, named after the group of its servers; none if it is off.
func (c *Config) AutoscaledNodes() []Node { return c.autoscaled }

// SurgeNodes are those that pools have beside their own while these are recreated.
func SurgeNodes(c *Config) []Node { return c.surge }

// Resolve lists the nodes in a stable order: the control plane, then the pools
// of workers as the file lists them, each by index, static nodes as the file
// lists them.
func (c *Config) Resolve() []Node { return c.nodes }
