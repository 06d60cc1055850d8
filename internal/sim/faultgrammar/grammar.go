package faultgrammar

import "slices"

// Kind is a kind of fault: a word of a grammar. M is what stands before the
// server, and E what happens to a call that a fault of the kind strikes.
type Kind[M, E any] struct {
	Name string
	// How many calls it strikes; a negative number is all from then on.
	Times int
	// How many seconds it lasts at most; 0 for what takes no time.
	Longest int
	// It strikes the calls of one operation, never those of all.
	Narrow bool
	// Whether it can strike an operation; nil: any.
	Operations func(operation string) bool
	// What becomes of a call. It is made once for each fault of a schedule.
	Effect func(M, Fault) E
	// The same, where it depends neither on what stands before the server nor on the
	// fault: instead of Effect.
	Plain func() E
}

// effect makes what becomes of the calls that a fault of the kind strikes.
func (k Kind[M, E]) effect(of M, f Fault) E {
	if k.Plain != nil {
		return k.Plain()
	}
	return k.Effect(of, f)
}

// Fits reports whether a fault of the kind can strike an operation.
func (k Kind[M, E]) Fits(operation string) bool {
	return k.Operations == nil || k.Operations(operation)
}

// On is a fault of the kind on the first call of an operation, as long as can be.
func (k Kind[M, E]) On(operation string) Fault {
	return Fault{Operation: operation, Kind: k.Name, Seconds: k.Longest, Single: k.Times == 1}
}

// Grammar is all kinds of faults of an interface, in the order of its
// documentation.
type Grammar[M, E any] []Kind[M, E]

// kind finds a kind by its name.
func (g Grammar[M, E]) kind(name string) Kind[M, E] {
	i := slices.IndexFunc(g, func(k Kind[M, E]) bool { return k.Name == name })
	if i < 0 {
		panic("faultgrammar: there is no kind " + name)
	}
	return g[i]
}

// Random makes a schedule by chance, for a run whose calls were counted: one to
// three faults, each on one of the calls. The chance is a number below n, such as
// that of a generator with a seed.
func (g Grammar[M, E]) Random(random func(n int) int, operations map[string]int) (s Schedule) {
	for range 1 + random(mostFaults) {
		s = append(s, g.random(random, operations))
	}
	return s
}

func (g Grammar[M, E]) random(random func(n int) int, operations map[string]int) Fault {
	all := Names(operations)
	for {
		k := g[random(len(g))]
		operation := all[random(len(all))]
		if !k.Fits(operation) {
			continue
		}
		f := k.On(operation)
		if seconds := 1 + random(k.Longest+1); k.Longest > 0 {
			f.Seconds = seconds
		}
		if f.Single {
			f.Nth = random(operations[operation])
		} else if random(2) == 0 && !k.Narrow {
			f.Operation = Every
		}
		return f
	}
}

// EachOnce are schedules of one fault: each kind on each operation that it fits.
func (g Grammar[M, E]) EachOnce(operations map[string]int) (all []Schedule) {
	for _, operation := range Names(operations) {
		for _, k := range g {
			if k.Fits(operation) {
				all = append(all, Schedule{k.On(operation)})
			}
		}
	}
	return all
}

// FirstAndLast are those of EachOnce, and the same on the last call of each operation
// for what strikes single calls: that is often about another object.
func (g Grammar[M, E]) FirstAndLast(operations map[string]int) (all []Schedule) {
	for _, s := range g.EachOnce(operations) {
		all = append(all, s)
		if last := s[0]; last.Single && operations[last.Operation] > 1 {
			last.Nth = operations[last.Operation] - 1
			all = append(all, Schedule{last})
		}
	}
	return all
}

// Names are those of operations, in order.
func Names(operations map[string]int) (all []string) {
	for o := range operations {
		all = append(all, o)
	}
	slices.Sort(all)
	return all
}
