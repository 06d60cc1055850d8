// Package rehearsal is what a run would do to a living cluster, found out without
// touching it: what was observed, and what came of a run on simulators that were made
// the same, as a report. It is pure: others observe and simulate.
package rehearsal
