// Package faultmachine lets everything go wrong between a client and the simulator
// of the Hetzner Cloud API that can go wrong there, by a grammar: a [Kind] of fault
// on a call makes a [Fault], and one to three of them a [Schedule], which follows
// from chance. Who tests a client runs it by a schedule, then without, and looks at
// what is left. Only tests import it.
package faultmachine
