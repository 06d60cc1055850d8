package address

import "slices"

// Places are the places in a subnet that nodes have: a node's is its pool's
// offset plus its index, and follows from nothing else (see [OfNode]).
type Places map[int]bool

// Add notes the places of a pool.
func (p Places) Add(offset int, indexes []int) {
	for _, index := range indexes {
		p[offset+index] = true
	}
}

// free tells whether a pool at an offset has its places for itself, all within
// the room of the subnet.
func (p Places) free(offset int, indexes []int, room int) bool {
	return !slices.ContainsFunc(indexes, func(index int) bool { return p[offset+index] || offset+index > room })
}

// growth is how many nodes a pool can have more before it meets the next one.
const growth = 5

// FreeOffset finds an offset for a pool with these indexes, in a subnet with
// room for so many nodes: behind all others, with some places in between, so
// that the last of them can grow; else where there is a gap. Offsets are tens
// if possible, which people can read.
func (p Places) FreeOffset(indexes []int, room int) (offset int, ok bool) {
	if len(indexes) == 0 {
		indexes = []int{1}
	}
	last := -growth
	for place := range p {
		last = max(last, place)
	}
	if offset = (last + growth + 9) / 10 * 10; p.free(offset, indexes, room) {
		return offset, true
	}
	for _, step := range []int{10, 1} {
		for offset = 0; offset < room; offset += step {
			if p.free(offset, indexes, room) {
				return offset, true
			}
		}
	}
	return 0, false
}

// FreeIndexes makes a pool have so many nodes: those that it has stay as they
// are; new ones get the lowest indexes whose places are free; the highest go
// first. It fails if the subnet has no places left.
func (p Places) FreeIndexes(have []int, offset, count, room int) (indexes []int, ok bool) {
	indexes = slices.Sorted(slices.Values(have))
	if len(indexes) >= count {
		return indexes[:count], true
	}
	for index := 1; len(indexes) < count; index++ {
		if offset+index > room {
			return nil, false
		}
		if !p[offset+index] && !slices.Contains(have, index) {
			indexes = append(indexes, index)
		}
	}
	slices.Sort(indexes)
	return indexes, true
}
