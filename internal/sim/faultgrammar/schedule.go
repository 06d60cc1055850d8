package faultgrammar

import (
	"fmt"
	"strings"
)

// Every is the operation of a fault that strikes calls of all operations.
const Every = "*"

// mostFaults is how many faults a schedule has at most.
const mostFaults = 3

// Fault is a kind of fault on a call.
type Fault struct {
	Operation string // or [Every]
	Nth       int    // which call of the operation, from 0; the first one for what goes on
	Kind      string // the name of a [Kind]
	Seconds   int    // of delays and lags; 0 for a kind without
	Single    bool   // it strikes one call only
}

// String is the fault in a few words.
func (f Fault) String() string {
	text := fmt.Sprintf("%s: %s", f.Operation, f.Kind)
	if f.Nth > 0 {
		text = fmt.Sprintf("%s (number %d): %s", f.Operation, f.Nth+1, f.Kind)
	}
	if f.Seconds > 0 {
		text += fmt.Sprintf(", %d s", f.Seconds)
	}
	return text
}

// Schedule are the faults of a run.
type Schedule []Fault

// String is the schedule in a line.
func (s Schedule) String() string {
	var parts []string
	for _, f := range s {
		parts = append(parts, f.String())
	}
	return strings.Join(parts, "; ")
}
