package config

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// controlPlanePools lists the pools of the control plane: the first one, unless the file
// says nothing of it and has others, then these.
func controlPlanePools(c *Config) (pools []pool) {
	cp := &c.Cluster.Nodes.ControlPlane
	at := keys("nodes.controlPlane")
	said := func(key string) bool { return c.has(sub(at, key)...) }
	if len(cp.NodePools) == 0 || slices.ContainsFunc(keysOf(reflect.TypeFor[schemas.Pool]()), said) {
		pools = append(pools, pool{Pool: cp.Pool, name: ControlPlanePool, role: ControlPlane, path: at, placementGroup: true})
	}
	for i, p := range cp.NodePools {
		path := sub(sub(at, "nodepools"), strconv.Itoa(i))
		pools = append(pools, pool{Pool: p.Pool, name: p.Name, role: ControlPlane, path: path, placementGroup: true})
	}
	return pools
}

// first tells whether a pool is the one that needs no name.
func (p pool) first() bool {
	return p.role == ControlPlane && p.name == ControlPlanePool && len(p.path) == 2
}

// empty tells whether the file says that a pool has no nodes.
func (p pool) empty() bool {
	return p.Count != nil && *p.Count == 0 || p.Indexes != nil && len(p.Indexes) == 0
}
