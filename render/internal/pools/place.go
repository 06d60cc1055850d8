package pools

import (
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/address"
	"github.com/talosgen/talosgen/render/internal/config"
)

// Place gives pools that are named another offset, one that is free. Without
// names, it records the offset of every pool that has none in the file: that
// at which it is, or a free one if other nodes are there.
func Place(s Source, names []string) (*Result, error) {
	e, err := open(s)
	if err != nil {
		return nil, err
	}
	if err := e.needsServers(); err != nil {
		return nil, err
	}
	for _, name := range names {
		p, err := e.pool(name)
		if err != nil {
			return nil, err
		}
		if p.Autoscaled {
			return nil, diag.New(e.now.Pos(p.Path...), "the autoscaler gives the nodes of %q their addresses", name).WithCode(diag.Usage)
		}
		if err := e.move(p); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		if err := e.record(); err != nil {
			return nil, err
		}
	}
	return e.finish()
}

// move gives a pool another offset.
func (e *editor) move(p config.Pool) error {
	if err := e.place(&p); err != nil {
		return err
	}
	e.moving[p.Name] = true
	if len(p.Indexes) > 0 {
		e.notes = append(e.notes, "the nodes of "+p.Name+" get other addresses; a server that exists keeps the one that it has until it is made again")
	}
	return e.reload()
}

// record writes the offsets that are not in the file.
func (e *editor) record() error {
	for _, p := range e.now.Pools() {
		if p.Recorded || p.Autoscaled {
			continue
		}
		if e.overlaps(p) {
			if err := e.move(p); err != nil {
				return err
			}
			continue
		}
		if err := e.set(p.Path, "offset", 0, "indexes", "count", "name"); err != nil {
			return err
		}
		if err := e.reload(); err != nil {
			return err
		}
	}
	return nil
}

// overlaps tells whether a pool has an address of another whose offset is
// recorded: that one was there first.
func (e *editor) overlaps(p config.Pool) bool {
	for _, other := range e.now.Pools() {
		if other.Recorded && other.Subnet == p.Subnet && other.Name != p.Name && meet(other, p) {
			return true
		}
	}
	return false
}

func meet(a, b config.Pool) bool {
	taken := address.Places{}
	taken.Add(a.Offset, a.Counted)
	taken.Add(0, a.Pinned)
	return slices.ContainsFunc(b.Counted, func(i int) bool { return taken[b.Offset+i] })
}

// place writes a free offset for a pool.
func (e *editor) place(p *config.Pool) error {
	offset, ok := e.others(*p).FreeOffset(p.Counted, p.Room)
	if !ok {
		return diag.New(e.now.Pos(p.Path...), "the subnet %s has no %d free addresses for the pool %q", p.Subnet, len(p.Counted), p.Name).
			WithHint("give the pool a subnet of its own")
	}
	p.Offset = offset
	return e.set(p.Path, "offset", offset, "indexes", "count", "name")
}

// reload reads what was changed so far, for the next change.
func (e *editor) reload() error {
	now, err := config.LoadOverlapping(e.File, e.with(e.file.Text()), e.Scope)
	if err == nil {
		e.now = now
	}
	return err
}

// last is the index at the end of a path.
func last(path []string) int {
	n, err := strconv.Atoi(path[len(path)-1])
	if err != nil {
		return -1
	}
	return n
}
