package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// defaultInstallDisk is the disk of a Hetzner Cloud server.
const defaultInstallDisk = "/dev/sda"

// maxNodeName is the longest hostname.
const maxNodeName = 63

// pool is a pool of either role, and its place in the file.
type pool struct {
	schemas.Pool
	name string
	role string
	path []string
}

// pools lists all pools: the control plane first, then the workers in the
// order of the file.
func (c *Config) pools() []pool {
	pools := []pool{{
		Pool: c.Cluster.Nodes.ControlPlane.Pool,
		name: ControlPlanePool,
		role: ControlPlane,
		path: []string{"nodes", "controlPlane"},
	}}
	for i, w := range c.Cluster.Nodes.Workers.NodePools {
		pools = append(pools, pool{
			Pool: w.Pool,
			name: w.Name,
			role: Worker,
			path: []string{"nodes", "workers", "nodepools", strconv.Itoa(i)},
		})
	}
	return pools
}

// resolve makes the nodes of all pools.
func (ch *checker) resolve(pools []pool) {
	for _, p := range pools {
		taints := ch.taints(p.Taints, p.path)
		if ch.Provider == schemas.Static {
			ch.staticNodes(p, taints)
		} else {
			ch.hetznerNodes(p, taints)
		}
	}
}

// hetznerNodes makes the nodes of a pool that has a count or indexes.
func (ch *checker) hetznerNodes(p pool, taints []Taint) {
	indexes := slices.Sorted(slices.Values(p.Indexes))
	if p.Count != nil && len(indexes) == 0 {
		for i := range *p.Count {
			indexes = append(indexes, i+1)
		}
	}
	for _, i := range indexes {
		if i == 0 || p.name == "" || ch.ClusterName == "" {
			continue // reported already
		}
		ch.nodes = append(ch.nodes, Node{
			Name:        fmt.Sprintf("%s-%s-%d", ch.ClusterName, p.name, i),
			Role:        p.role,
			Pool:        p.name,
			Index:       i,
			Type:        p.Type,
			Labels:      p.Labels,
			Annotations: p.Annotations,
			Taints:      taints,
			InstallDisk: cmp.Or(p.InstallDisk, defaultInstallDisk),
			config:      ch.Config,
			paths:       [][]string{p.path},
		})
	}
}

// staticNodes makes the nodes that a pool lists.
func (ch *checker) staticNodes(p pool, taints []Taint) {
	for i, s := range p.Nodes {
		path := append(slices.Clip(p.path), "nodes", strconv.Itoa(i))
		address, _ := netip.ParsePrefix(s.Address) // the zero value if absent, or reported already
		boot, _ := netip.ParseAddr(s.BootAddress)
		gateway, _ := netip.ParseAddr(s.Gateway)
		if !boot.IsValid() && !ch.has(append(path, "bootAddress")...) {
			boot = address.Addr()
		}
		ch.nodes = append(ch.nodes, Node{
			Name:        s.Name,
			Role:        p.role,
			Pool:        p.name,
			Labels:      merge(p.Labels, s.Labels),
			Annotations: merge(p.Annotations, s.Annotations),
			Taints:      mergeTaints(taints, ch.taints(s.Taints, path)),
			InstallDisk: cmp.Or(s.InstallDisk, p.InstallDisk),
			Match:       s.Match,
			BootAddress: boot,
			Address:     address,
			Gateway:     gateway,
			Interface:   s.Interface,
			config:      ch.Config,
			paths:       [][]string{path, p.path},
		})
	}
}

// taints parses the taints of a pool or node. Talos keeps one taint for each key.
func (ch *checker) taints(texts []string, path []string) []Taint {
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

// merge adds a node's own entries to those of its pool.
func merge(pool, node map[string]string) map[string]string {
	if len(node) == 0 {
		return pool
	}
	all := maps.Clone(pool)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, node)
	return all
}

// mergeTaints adds a node's own taints to those of its pool with other keys.
func mergeTaints(pool, node []Taint) []Taint {
	var all []Taint
	for _, t := range pool {
		if !slices.ContainsFunc(node, func(own Taint) bool { return own.Key == t.Key }) {
			all = append(all, t)
		}
	}
	return append(all, node...)
}
