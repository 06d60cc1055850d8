package faultmachine

// mostFaults is how many faults a schedule has at most.
const mostFaults = 3

// mostSeconds is how long delays are at most, below the client's patience for a call.
const mostSeconds = 59

// mostLag is how many seconds reads can be behind.
const mostLag = 30

// Random makes a schedule by chance, for a run whose calls were counted: one to
// three faults, each on one of the calls. The chance is a number below n, such as that
// of a generator with a seed.
func Random(chance func(n int) int, operations map[string]int) (s Schedule) {
	for range 1 + chance(mostFaults) {
		s = append(s, random(chance, operations))
	}
	return s
}

func random(chance func(n int) int, operations map[string]int) Fault {
	all := names(operations)
	for {
		k := kinds[chance(len(kinds))]
		operation := all[chance(len(all))]
		if !k.Fits(operation) {
			continue
		}
		f := one(k, operation)
		f.Seconds = 1 + chance(f.Seconds+1)
		if k.Times == 1 {
			f.Nth = chance(operations[operation])
		} else if chance(2) == 0 && k.Name != "selector lags" && k.Name != "list shifts" {
			f.Operation = Every
		}
		return f
	}
}

// one is a fault of a kind on the first call of an operation, as long as can be.
func one(k Kind, operation string) Fault {
	f := Fault{Operation: operation, Kind: k.Name}
	if k.timed {
		f.Seconds = mostLag
	}
	if k.Name == "slow" {
		f.Seconds = mostSeconds
	}
	return f
}

// EachOnce are schedules of one fault: each kind on each operation that it fits.
func EachOnce(operations map[string]int) (all []Schedule) {
	for _, operation := range names(operations) {
		for _, k := range kinds {
			if k.Fits(operation) {
				all = append(all, Schedule{one(k, operation)})
			}
		}
	}
	return all
}
