package watch

import (
	"slices"
	"time"
)

// Heal is something that a watch mends by itself.
type Heal string

// What it may mend.
const (
	Drift   Heal = "drift"   // changes of the infrastructure that disturb nothing
	Workers Heal = "workers" // dead workers, by new machines
)

// Heals are all of them.
func Heals() []Heal { return []Heal{Drift, Workers} }

const (
	// StartsWithin is how long a new machine may take to become a node.
	StartsWithin = 15 * time.Minute
	// SteadyAfter is how long a worker that came back must be as it is, before it counts as
	// one that has never been away.
	SteadyAfter = time.Hour
	// MostMoves is how often a route is led to another gateway within [MovesPer]: gateways
	// that are ill in turn are not followed for ever.
	MostMoves = 3
	// MovesPer is the time in which a route is led there so often at most.
	MovesPer = time.Hour
	// missedPolls is how many looks in a row may fail before nobody can say any more that
	// a machine was dead all the time.
	missedPolls = 3
)

// Policy is what a watch may do.
type Policy struct {
	// What it heals; nothing: it only tells.
	Heal []Heal
	// How often it looks.
	Interval time.Duration
	// How long a worker has to be dead, in every look, before it is replaced.
	DeadAfter time.Duration
	// How many workers may be replaced within a time.
	Most int
	Per  time.Duration
}

// heals reports whether something is healed.
func (p Policy) heals(h Heal) bool { return slices.Contains(p.Heal, h) }

// gap is the longest time between two looks in which a machine is taken to be as both
// have found it.
func (p Policy) gap() time.Duration { return max(missedPolls*p.Interval, p.DeadAfter/2) }
