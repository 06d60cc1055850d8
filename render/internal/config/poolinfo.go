package config

import (
	"net/netip"
	"slices"
	"strconv"
)

// Pool is what is to be known about a pool for changing it. A pool of the
// autoscaler has no nodes here.
type Pool struct {
	Name string
	Role string
	Path []string // where it is in the file
	// First says that it is the pool of control planes that is in no list.
	First bool
	Type  string

	// For servers of Hetzner Cloud, zero otherwise.
	Subnet   netip.Prefix // where its nodes get their addresses
	Room     int          // for how many nodes the subnet has addresses
	Offset   int
	Recorded bool  // whether the file has the offset
	Indexes  []int // of its nodes, sorted
	Counted  []int // those of them whose addresses follow from the offset
	Pinned   []int // places in the subnet that the file gives to nodes
	Listed   bool  // whether the file lists the indexes; it counts the nodes if not

	Machines   bool // its nodes are dedicated servers, which the file lists
	Autoscaled bool
	Min, Max   int // of servers that the autoscaler makes
}

// Pools lists all pools: the control plane, the workers in the order of the
// file, then those of the autoscaler.
func (c *Config) Pools() []Pool {
	var pools []Pool
	for _, p := range c.pools() {
		pools = append(pools, Pool{
			Name: p.name, Role: p.role, Path: p.path, First: p.first(), Type: p.Type,
			Subnet: c.subnetOf(p.subnet, p.role), Room: c.room(p),
			Offset: p.offset(), Recorded: p.Offset != nil, Indexes: p.indexNumbers(), Listed: p.Indexes != nil,
			Counted: p.counted(), Pinned: pinnedPlaces(c, p), Machines: p.dedicated,
		})
	}
	for i, p := range c.Autoscaler.NodePools {
		pools = append(pools, Pool{
			Name: p.Name, Role: Worker, Path: sub(keys("autoscaler.nodepools"), strconv.Itoa(i)), Type: p.Type,
			Subnet: c.AutoscalerSubnet(p), Autoscaled: true, Min: p.Min, Max: p.Max,
		})
	}
	return pools
}

// WorkerSubnet is the subnet of a pool of workers, its own if it has one, and
// for how many nodes it has addresses.
func (c *Config) WorkerSubnet(own string) (netip.Prefix, int) {
	if own == "" {
		return c.shared.Workers, c.room(pool{role: Worker})
	}
	subnet, err := netip.ParsePrefix(own)
	if err != nil || !subnet.Addr().Is4() {
		return netip.Prefix{}, 0
	}
	return subnet, c.room(pool{role: Worker, subnet: subnet})
}

// ControlPlaneSubnet is the subnet of control plane nodes, and for how many it has
// addresses.
func ControlPlaneSubnet(c *Config) (netip.Prefix, int) {
	return c.shared.ControlPlane, c.room(pool{role: ControlPlane})
}

// IndexList is the indexes that the file lists for a pool, in its order.
func (c *Config) IndexList(of Pool) []int {
	for _, p := range c.pools() {
		if p.name == of.Name {
			return slices.Clone(p.Indexes)
		}
	}
	return nil
}

// Path is where a static node is described in the file; where its pool is, for
// a server.
func (n Node) Path() []string { return n.paths[0] }
