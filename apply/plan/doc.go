// Package plan is the vocabulary of all plans: keys of steps, notes, digests of
// what was observed, consent, and how a plan is saved, found stale and printed.
//
// The planners below it decide what to do: cloud for Hetzner, nodes for the
// nodes of a cluster, kube for the Kubernetes API. They share this vocabulary
// and know nothing of each other's decisions. All of them are pure: values go
// in, values come out, and equal input gives equal output, to the byte.
package plan
