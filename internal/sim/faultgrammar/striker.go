package faultgrammar

import "sync"

// Striker lets the faults of a schedule strike calls, by a grammar. Several calls
// may come at once.
type Striker[M, E any] struct {
	grammar Grammar[M, E]
	of      M

	mu     sync.Mutex
	left   []*strike[E]
	struck int
}

// strike is a fault that waits for its call.
type strike[E any] struct {
	Fault
	skip, times int
	as          E
}

// NewStriker returns one without faults, for what stands before a server.
func NewStriker[M, E any](grammar Grammar[M, E], of M) *Striker[M, E] {
	return &Striker[M, E]{grammar: grammar, of: of}
}

// Begin lets a schedule strike from now on, in the place of the one before.
func (s *Striker[M, E]) Begin(schedule Schedule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.struck = nil, 0
	for _, f := range schedule {
		k := s.grammar.kind(f.Kind)
		s.left = append(s.left, &strike[E]{f, f.Nth, k.Times, k.effect(s.of, f)})
	}
}

// End ends the schedule, and returns how many calls it has struck.
func (s *Striker[M, E]) End() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = nil
	return s.struck
}

// Next returns what strikes a call of an operation, if anything does: the first
// fault of the schedule that fits it, and is not used up.
func (s *Striker[M, E]) Next(operation string) (as E, strikes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.left {
		if f.times == 0 || f.Operation != operation && f.Operation != Every {
			continue
		}
		if f.skip > 0 {
			f.skip--
			continue
		}
		f.times--
		s.struck++
		return f.as, true
	}
	return as, false
}
