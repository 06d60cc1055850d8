package config

import (
	"fmt"
	"path"

	"github.com/talosgen/talosgen/render/internal/address"
)

// checkOffsets makes sure that no two nodes get one address: pools in the same
// subnet have offsets that keep them apart. A pool that records none is at 0,
// whatever other pools there are, so its addresses never move either.
func (ch addressRules) checkOffsets() {
	if ch.overlapping {
		return
	}
	for i, p := range ch.pools {
		for _, other := range ch.pools[:i] {
			if p.name == other.name {
				continue // reported already, and an offset would not help
			}
			if ch.sharesSubnet(p, other) && ch.readable(p) && ch.readable(other) && ch.overlap(other, p) {
				break // one is enough to say about a pool
			}
		}
	}
}

// readable tells whether the offset of a pool, if it has one, is a number.
func (ch addressRules) readable(p pool) bool {
	return p.Offset != nil || !ch.has(sub(p.path, "offset")...)
}

// sharesSubnet tells whether the addresses of two pools are in one subnet.
func (ch addressRules) sharesSubnet(p, with pool) bool {
	return ch.subnetOf(p.subnet, p.role) == ch.subnetOf(with.subnet, with.role)
}

// overlap reports the first address that two pools share.
func (ch addressRules) overlap(a, b pool) bool {
	taken := map[int]int{}
	for _, index := range a.counted() {
		taken[a.offset()+index] = index
	}
	for _, index := range b.counted() {
		first, clash := taken[b.offset()+index]
		if !clash {
			continue
		}
		at := sub(b.path, "offset")
		if !ch.has(at...) {
			at = b.path
		}
		ch.fail(ch.offsetHint(a, b, ch.freeOffset(b)), at,
			"the pools %q and %q overlap: node %d of the one and node %d of the other have the same address", a.name, b.name, first, index)
		return true
	}
	return false
}

// offsetHint tells the way out of an overlap. Two branches may have taken the
// same offset: which pool has servers already, a file cannot tell.
func (ch addressRules) offsetHint(a, b pool, free int) string {
	env := path.Base(path.Dir(ch.file))
	if b.Offset == nil {
		return fmt.Sprintf("a pool without an offset is at 0, as %q on %s; add offset: %d, which is free,\nor run `talosgen pool place %s`",
			a.name, onLine(ch.Config, ch.near(sub(a.path, "offset"))), free, env)
	}
	return fmt.Sprintf("that of %q is on %s; did two branches take the same offset? offset: %d is free\nfor the pool that has no servers yet, or run `talosgen pool place %s` with its name",
		a.name, onLine(ch.Config, ch.near(sub(a.path, "offset"))), free, env)
}

// freeOffset is an offset at which a pool meets no other.
func (ch addressRules) freeOffset(of pool) int {
	taken := address.Places{}
	for _, p := range ch.pools {
		if ch.sharesSubnet(p, of) {
			taken.Add(0, pinnedPlaces(ch.Config, p))
		}
		if ch.sharesSubnet(p, of) && p.name != of.name {
			taken.Add(p.offset(), p.counted())
		}
	}
	free, _ := taken.FreeOffset(of.counted(), ch.room(of)) // that there is none, setAddresses reports
	return free
}
