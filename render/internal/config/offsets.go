package config

import (
	"net/netip"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// pinned is a subnet that belongs to a pool.
type pinned struct {
	prefix netip.Prefix
	pool   string
	scaled bool // the autoscaler hands out its addresses
	path   []string
}

// checkPinned checks the subnets that pools have for themselves.
func (ch *checker) checkPinned(pools []pool) {
	if ch.Provider != schemas.Hetzner {
		return
	}
	var all []pinned
	for _, p := range pools {
		if p.subnet.IsValid() {
			all = append(all, pinned{p.subnet, p.name, false, sub(p.path, "subnet")})
		}
	}
	for i, p := range ch.Autoscaler.NodePools {
		if prefix, err := netip.ParsePrefix(p.Subnet); err == nil {
			all = append(all, pinned{prefix, p.Name, true, []string{"autoscaler", "nodepools", strconv.Itoa(i), "subnet"}})
		}
	}
	for i, p := range all {
		ch.checkInNodes(p)
		for _, other := range all[:i] {
			switch {
			case !p.prefix.Overlaps(other.prefix):
			case p.prefix != other.prefix:
				ch.fail("", p.path, "the subnet %s of the pool %q overlaps the subnet %s of the pool %q", p.prefix, p.pool, other.prefix, other.pool)
			case p.scaled != other.scaled:
				ch.fail("the autoscaler takes any address that is free, also one that a node is to have", p.path,
					"the pools %q and %q share the subnet %s, and the autoscaler scales one of them", other.pool, p.pool, p.prefix)
			}
		}
	}
}

// checkInNodes makes sure that the kubelet finds the address of a node.
func (ch *checker) checkInNodes(p pinned) {
	for _, text := range ch.Network.NodeCidrs {
		if nodes, err := netip.ParsePrefix(text); err != nil || within(nodes, p.prefix) {
			return
		}
	}
	ch.fail("the range of the nodes holds all their subnets", p.path, "the subnet %s of the pool %q is in none of network.nodeCidrs", p.prefix, p.pool)
}

// checkOffsets makes sure that no two nodes get one address: pools in the same
// subnet have offsets that keep them apart. Only if addresses are recorded must
// pools say so that never did.
func (ch *checker) checkOffsets(pools []pool, recorded bool) {
	if ch.Provider != schemas.Hetzner {
		return
	}
	for i, p := range pools {
		for _, other := range pools[:i] {
			if p.role != other.role || p.subnet != other.subnet || p.Offset == nil && other.Offset == nil && !recorded {
				continue
			}
			ch.checkApart(other, p, pools)
		}
	}
}

// checkApart reports the first address that two pools share.
func (ch *checker) checkApart(a, b pool, pools []pool) {
	taken := map[int]int{}
	for _, index := range a.indexNumbers() {
		taken[a.offset()+index] = index
	}
	for _, index := range b.indexNumbers() {
		first, clash := taken[b.offset()+index]
		if !clash {
			continue
		}
		at := sub(b.path, "offset")
		if !ch.has(at...) {
			at = b.path
		}
		ch.fail("addresses are offset + index + 1; offset: "+strconv.Itoa(freeOffset(pools, b))+" is free", at,
			"the pools %q and %q overlap: node %d of the one and node %d of the other have the same address", a.name, b.name, first, index)
		return
	}
}

// freeOffset is behind all nodes of the other pools in a pool's subnet.
func freeOffset(pools []pool, of pool) int {
	free := 0
	for _, p := range pools {
		if p.role != of.role || p.subnet != of.subnet || p.name == of.name {
			continue
		}
		for _, index := range p.indexNumbers() {
			free = max(free, p.offset()+index)
		}
	}
	return (free + 9) / 10 * 10
}
