// Package archtest holds the rules about the source itself, as tests: which
// package may import which (the picture in DESIGN section 4 and ARCHITECTURE.md),
// who may touch the outside, what must have a comment, how large things may get.
//
// Each rule is a line of a table with its reason. An exception is a line too,
// with a reason of its own; one that excepts nothing any more fails.
package archtest
