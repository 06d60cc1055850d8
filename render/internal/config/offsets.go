package config

import (
	"fmt"
	"net/netip"
	"path"
	"strconv"

	"github.com/talosgen/talosgen/render/internal/address"
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
// subnet have offsets that keep them apart. A pool that records none is at 0,
// whatever other pools there are, so its addresses never move either.
func (ch *checker) checkOffsets(pools []pool) {
	if ch.Provider != schemas.Hetzner || ch.overlapping {
		return
	}
	for i, p := range pools {
		for _, other := range pools[:i] {
			if p.name == other.name {
				continue // reported already, and an offset would not help
			}
			if p.sharesSubnet(other) && ch.readable(p) && ch.readable(other) && ch.overlap(other, p, pools) {
				break // one is enough to say about a pool
			}
		}
	}
}

// readable tells whether the offset of a pool, if it has one, is a number.
func (ch *checker) readable(p pool) bool { return p.Offset != nil || !ch.has(sub(p.path, "offset")...) }

// sharesSubnet tells whether the addresses of two pools are in one subnet.
func (p pool) sharesSubnet(with pool) bool { return p.role == with.role && p.subnet == with.subnet }

// overlap reports the first address that two pools share.
func (ch *checker) overlap(a, b pool, pools []pool) bool {
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
		ch.fail(ch.offsetHint(a, b, ch.freeOffset(pools, b)), at,
			"the pools %q and %q overlap: node %d of the one and node %d of the other have the same address", a.name, b.name, first, index)
		return true
	}
	return false
}

// offsetHint tells the way out of an overlap. Two branches may have taken the
// same offset: which pool has servers already, a file cannot tell.
func (ch *checker) offsetHint(a, b pool, free int) string {
	env := path.Base(path.Dir(ch.file))
	if b.Offset == nil {
		return fmt.Sprintf("a pool without an offset is at 0, as %q on line %d; add offset: %d, which is free,\nor run `talosgen pool place %s`",
			a.name, ch.near(sub(a.path, "offset")).Line, free, env)
	}
	return fmt.Sprintf("that of %q is on line %d; did two branches take the same offset? offset: %d is free\nfor the pool that has no servers yet, or run `talosgen pool place %s` with its name",
		a.name, ch.near(sub(a.path, "offset")).Line, free, env)
}

// freeOffset is an offset at which a pool meets no other.
func (ch *checker) freeOffset(pools []pool, of pool) int {
	taken := address.Places{}
	for _, p := range pools {
		if p.sharesSubnet(of) && p.name != of.name {
			taken.Add(p.offset(), p.indexNumbers())
		}
	}
	free, _ := taken.FreeOffset(of.indexNumbers(), ch.room(of)) // that there is none, setAddresses reports
	return free
}
