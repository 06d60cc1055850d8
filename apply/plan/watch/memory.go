package watch

import (
	"maps"
	"slices"
	"time"
)

// Memory is what the looks of a watch have found until now. The zero value is that of a
// watch that has just begun, and knows nothing.
type Memory struct {
	nodes map[string]past
	begun []begun
	moved []moved
}

// moved is a route that this watch has led to another gateway.
type moved struct {
	route string
	at    time.Time
}

// past is what is known of a node from earlier looks.
type past struct {
	machine  int64
	dead     time.Time // since when each look finds it dead; zero: the last one did not
	last     time.Time // the last look that found it dead
	returned time.Time // when it was last found alive after it was dead
}

// begun is a replacement that this watch has begun.
type begun struct {
	node string
	at   time.Time
}

// Began notes that a replacement has begun.
func (m Memory) Began(node string, at time.Time) Memory {
	m.begun = append(append([]begun{}, m.begun...), begun{node, at})
	return m
}

// Moved notes that routes are led to another gateway.
func (m Memory) Moved(routes []string, at time.Time) Memory {
	m.moved = slices.Clone(m.moved)
	for _, route := range routes {
		m.moved = append(m.moved, moved{route, at})
	}
	return m
}

// moves is how often a route was led to another gateway of late.
func (m Memory) moves(route string) (count int) {
	for _, one := range m.moved {
		if one.route == route {
			count++
		}
	}
	return count
}

// DeadSince is since when every look has found a node dead; the zero time if the last one
// did not.
func (m Memory) DeadSince(node string) time.Time { return m.nodes[node].dead }

// resolved is a look in which a worker that is missing is dead, if somebody has seen it.
func (m Memory) resolved(l Observation) Observation {
	nodes := slices.Clone(l.Nodes)
	for i, n := range nodes {
		if n.State == Missing && (m.nodes[n.Name].machine != 0 || l.Replacing == n.Name) {
			nodes[i].State = Dead
		}
	}
	l.Nodes = nodes
	return l
}

// with adds what a look has found.
func (m Memory) with(l Observation, p Policy) Memory {
	next := Memory{nodes: maps.Clone(m.nodes)}
	if next.nodes == nil {
		next.nodes = map[string]past{}
	}
	for _, b := range m.begun {
		if l.At.Sub(b.at) < max(p.Per, p.DeadAfter) {
			next.begun = append(next.begun, b)
		}
	}
	for _, one := range m.moved {
		if l.At.Sub(one.at) < MovesPer {
			next.moved = append(next.moved, one)
		}
	}
	for _, n := range l.Nodes {
		next.nodes[n.Name] = next.nodes[n.Name].with(n, l.At, p.gap())
	}
	return next
}

// with adds what a look has found of a node. What was known of another machine is not
// known of this one; that there is none any more is no news of a dead one.
func (h past) with(n Node, at time.Time, gap time.Duration) past {
	if n.Machine != 0 && h.machine != n.Machine {
		h = past{machine: n.Machine}
	}
	switch n.State {
	case Dead:
		if h.dead.IsZero() || at.Sub(h.last) > gap {
			h.dead = at
		}
		h.last = at
	case Alive:
		if !h.dead.IsZero() {
			h.returned = at
		}
		h.dead = time.Time{}
	case Bare:
		h.dead = time.Time{}
	}
	return h
}
