// Package cloud compares what a cluster should have on Hetzner Cloud
// ([schemas.Infrastructure]) with what it has ([Observed]), and says what to
// do about it ([Plan]).
//
// The package is pure: values go in, values come out. It knows no client, no
// clock and no file. What it returns for equal input is equal, to the byte.
//
// A plan survives its own execution: whatever one call of the API cannot set
// together with the rest (an address, a target, protection, a reverse DNS name,
// power) is a [Field] of its own. After a crash the next plan holds exactly the
// fields that are still missing.
package cloud
