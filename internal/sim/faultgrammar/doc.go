// Package faultgrammar is how tests let things go wrong between a client and
// whatever it talks to: a [Kind] of fault on an operation makes a [Fault], one to
// three of them a [Schedule], which follows from chance, and a [Striker] lets a
// schedule strike the calls as they come. What the words of a grammar mean, each
// interface says for itself: Hetzner Cloud, Kubernetes, the Talos API. Only tests
// import it.
package faultgrammar
