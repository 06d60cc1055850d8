package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/address"
	"github.com/talosgen/talosgen/schemas"
)

// maxPoolName is the longest <cluster>-<pool>: what follows it in the name of
// a server, also of one that the autoscaler makes, still fits into a hostname.
const maxPoolName = 56

// pool is a pool of either role, and its place in the file.
type pool struct {
	schemas.Pool
	name           string
	role           string
	subnet         netip.Prefix // of its own; zero if it shares that of its role
	placementGroup bool
	maxSurge       int
	dedicated      bool // its nodes are dedicated servers
	path           []string
}

// pools lists all pools: those of the control plane first, then the workers in
// the order of the file.
func (c *Config) pools() []pool {
	pools := controlPlanePools(c)
	for i, w := range c.Cluster.Nodes.Workers.NodePools {
		subnet, _ := netip.ParsePrefix(w.Subnet) // the zero value if absent, or reported already
		path := []string{"nodes", "workers", "nodepools", strconv.Itoa(i)}
		dedicated := isDedicated(c, path)
		if dedicated {
			subnet = c.shared.BareMetal
		}
		pools = append(pools, pool{
			Pool: w.Pool,
			name: w.Name,
			role: Worker,
			path: path,

			dedicated:      dedicated,
			subnet:         subnet,
			placementGroup: w.PlacementGroup,
			maxSurge:       w.MaxSurge,
		})
	}
	return pools
}

// resolver makes the nodes of all pools, and gives servers their addresses.
type resolver struct {
	*reporter
	pools []pool
}

func (ch resolver) resolve() {
	for _, p := range ch.pools {
		taints := ch.taints(p.Taints, p.path)
		if ch.Provider == schemas.Static || p.dedicated {
			ch.staticNodes(p, taints)
		} else {
			ch.hetznerNodes(p, taints)
		}
	}
	ch.autoscaledNodes()
	ch.setAddresses()
}

// autoscaledNodes makes a node for each pool of the autoscaler.
func (ch resolver) autoscaledNodes() {
	for i, p := range ch.Autoscaler.NodePools {
		at := []string{"autoscaler", "nodepools", strconv.Itoa(i)}
		taints := ch.taints(p.Taints, at)
		if ch.Autoscaler.Enabled {
			disk := ch.installDisk(defaultInstallDisk)
			ch.autoscaled = append(ch.autoscaled, Node{
				Name: ch.ClusterName + "-" + p.Name, Role: Worker, Pool: p.Name, Type: p.Type, Location: p.Location,
				Labels: p.Labels, Annotations: p.Annotations, Taints: taints,
				InstallDisk: disk.path, DiskSelector: disk.selector,

				image:      p.NodeImage,
				Platform:   hetznerPlatform,
				Autoscaled: true, config: ch.Config, paths: [][]string{at},
			})
		}
	}
}

// indexNumbers are the indexes of a pool's nodes, in order. An index with a
// problem is left out.
func (p pool) indexNumbers() []int {
	if p.dedicated {
		return p.dedicatedIndexes()
	}
	var numbers []int
	if len(p.Indexes) > 0 {
		numbers = slices.Sorted(slices.Values(p.Indexes))
	} else if p.Count != nil {
		for i := range *p.Count {
			numbers = append(numbers, i+1)
		}
	}
	return slices.DeleteFunc(numbers, func(n int) bool { return n == 0 })
}

// hetznerNodes makes the nodes of a pool that has a count or indexes.
func (ch resolver) hetznerNodes(p pool, taints []Taint) {
	if p.name == "" || ch.ClusterName == "" {
		return // reported already
	}
	disk := ch.installDisk(defaultInstallDisk, p.disk())
	node := func(i int) Node {
		return Node{
			Name:        cmp.Or(p.Names[strconv.Itoa(i)], fmt.Sprintf("%s-%s-%d", ch.ClusterName, p.name, i)),
			Role:        p.role,
			Pool:        p.name,
			Index:       i,
			Type:        p.Type,
			Labels:      p.Labels,
			Annotations: p.Annotations,
			Taints:      taints,
			image:       p.NodeImage,
			Platform:    hetznerPlatform,

			InstallDisk:  disk.path,
			DiskSelector: disk.selector,

			FallbackTypes:     p.FallbackTypes,
			Location:          p.location(i),
			FallbackLocations: p.FallbackLocations,
			Subnet:            p.subnet,
			Offset:            p.offset(),
			PrivateIP:         p.pinnedIP(i),
			Pinned:            p.pinnedIP(i).IsValid(),
			PlacementGroup:    p.inGroup(i),
			Group:             p.PlacementGroups[strconv.Itoa(i)],
			Backups:           p.Backups,
			KeepDisk:          p.KeepDisk,
			KeepPrimaryIPs:    p.KeepPrimaryIPs,
			Volumes:           p.Volumes,
			ReverseDNS:        p.ReverseDNS,

			config: ch.Config,
			paths:  [][]string{p.path},
		}
	}
	for _, i := range p.indexNumbers() {
		ch.nodes = append(ch.nodes, node(i))
	}
	for _, i := range p.surgeIndexes() {
		n := node(i)
		n.Surge, n.PlacementGroup, n.Group = true, false, "" // a group may be full
		n.KeepPrimaryIPs, n.Volumes = false, nil
		ch.surge = append(ch.surge, n)
	}
}

// surgeIndexes are the indexes of the nodes that a pool has while others are recreated:
// those that it would get next, if all before them are taken.
func (p pool) surgeIndexes() (indexes []int) {
	if own := p.indexNumbers(); len(own) > 0 && !p.dedicated {
		for i := range p.maxSurge {
			indexes = append(indexes, own[len(own)-1]+1+i)
		}
	}
	return indexes
}

// location is where the node with an index is.
func (p pool) location(index int) string {
	if n := len(p.Locations); n > 0 {
		return p.Locations[(index-1)%n]
	}
	return p.Location
}

// offset is where the addresses of the pool begin.
func (p pool) offset() int {
	if p.Offset == nil {
		return 0
	}
	return *p.Offset
}

// taints parses the taints of a pool or node. Talos keeps one taint for each key.
func (ch resolver) taints(texts []string, path []string) []Taint {
	var taints []Taint
	for i, text := range texts {
		colon := strings.LastIndex(text, ":")
		if colon < 0 {
			continue // reported already
		}
		key, value, _ := strings.Cut(text[:colon], "=")
		t := Taint{key, value, text[colon+1:], ch.Pos(append(slices.Clip(path), "taints", strconv.Itoa(i))...)}
		if slices.ContainsFunc(taints, func(other Taint) bool { return other.Key == key }) {
			ch.problems.Add(diag.New(t.Pos, "a second taint with the key %q", key).
				WithHint("Talos gives a node one taint for each key"))
			continue
		}
		taints = append(taints, t)
	}
	return taints
}

// setAddresses gives each server its address in the private network.
func (ch resolver) setAddresses() {
	if ch.Provider != schemas.Hetzner || !ch.shared.ControlPlane.IsValid() {
		return
	}
	full := map[string]bool{}
	for i := range len(ch.nodes) + len(ch.surge) {
		n := ch.at(i)
		if n.Pinned || n.Dedicated && n.Index == 0 {
			continue
		}
		in := ch.SubnetOf(*n)
		addr, err := address.OfNode(in, n.Offset, n.Index)
		if err == nil {
			n.PrivateIP = addr
			continue
		}
		if !full[n.Pool] && !ch.overlapping {
			full[n.Pool] = true
			ch.fail("give the pool a subnet of its own, or the cluster a larger network", n.paths[0],
				"the subnet %s has addresses for %d nodes, none for offset %d and index %d", in, max(address.Room(in), 0), n.Offset, n.Index)
		}
	}
}

// at is a node by its number, first those that are always there.
func (ch resolver) at(i int) *Node {
	if i < len(ch.nodes) {
		return &ch.nodes[i]
	}
	return &ch.surge[i-len(ch.nodes)]
}
