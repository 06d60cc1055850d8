package upgrade

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// choose returns the nodes that a phase may begin with now, or what it waits for.
func (f *fleet) choose(p phase) (chosen []pair, wait []Note) {
	var due []pair
	for _, n := range f.of(p.group) {
		if p.due(n) && !n.inFlight() && f.policy.concerns(n.Name) {
			due = append(due, n)
		}
	}
	if len(due) == 0 || f.policy.Until == First && f.begun(p) {
		return nil, nil
	}
	if note, waits := f.soaks(p); waits {
		return nil, []Note{note}
	}
	if p.group == controlPlanes {
		return f.one(due[0], p)
	}
	return f.several(due, p), nil
}

// begun reports whether a node of the phase's group has what the phase brings.
func (f *fleet) begun(p phase) bool {
	return slices.ContainsFunc(f.of(p.group), func(n pair) bool { return n.known() && !p.due(n) })
}

// soaks says what the second node of a group waits for: the first must have run the
// new Talos for a while.
func (f *fleet) soaks(p phase) (Note, bool) {
	if p.talos == "" && !p.recycle || !f.begun(p) {
		return Note{}, false
	}
	longest, name := -1, ""
	for _, n := range f.of(p.group) {
		if n.known() && !p.due(n) && n.Up > longest {
			longest, name = n.Up, n.Name
		}
	}
	if longest >= f.policy.Soak {
		return Note{}, false
	}
	return Note{Node: name, Text: fmt.Sprintf("it has run for %d s, and others follow after %d s", longest, f.policy.Soak)}, true
}

// one is a control plane node, if etcd can do without it meanwhile.
func (f *fleet) one(n pair, p phase) ([]pair, []Note) {
	if !p.drains(n) && p.program != APIServer {
		return []pair{n}, nil
	}
	if reason := etcdsafety.CanStop(f.seen.safe(), n.Name); reason != "" {
		return nil, []Note{{ID: "R4", Node: n.Name, Text: reason, Hint: "see talosgen health"}}
	}
	return []pair{n}, nil
}

// several are workers that may be away at once. The first one of a group goes alone.
func (f *fleet) several(due []pair, p phase) (chosen []pair) {
	limit := f.policy.Parallel(len(f.of(workers)) + len(f.of(autoscaled)))
	if !f.begun(p) && (p.talos != "" || p.recycle) {
		limit = 1
	}
	flying := f.flying()
	for _, n := range due {
		if len(flying)+len(chosen) >= limit {
			break
		}
		if others := slices.Concat(flying, chosen); !f.inTheWay(n, others) {
			chosen = append(chosen, n)
		}
	}
	return chosen
}

// smallPool is the number of nodes from which on a pool can do without two.
const smallPool = 3

// inTheWay reports whether a node must not be away while others are: they share a
// budget that has no room for two, or a small pool.
func (f *fleet) inTheWay(n pair, others []pair) bool {
	size := 0
	for _, o := range f.seen.Nodes {
		if o.Pool == n.Pool {
			size++
		}
	}
	return slices.ContainsFunc(others, func(o pair) bool {
		return o.Pool == n.Pool && size < smallPool || slices.ContainsFunc(f.seen.Budgets, func(b Budget) bool {
			return b.Allowed < 2 && slices.Contains(b.Nodes, n.Name) && slices.Contains(b.Nodes, o.Name)
		})
	})
}
