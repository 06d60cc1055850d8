// Package faultmachine lets everything go wrong between a client and the simulator
// of the Hetzner Cloud API that can go wrong there, by a grammar of package
// faultgrammar. Who tests a client runs it by a schedule, then without, and looks at
// what is left. Only tests import it.
package faultmachine
