// Package upgrade moves the nodes of a cluster to other versions of Talos, as the
// package plan/upgrade decides: it observes, takes the steps that may begin, and
// observes again until nothing is left to do.
//
// It keeps nothing between runs. What a run has begun with a node stands at the node
// in Kubernetes, as a mark that is written before the installer is called: a run that
// was killed at any call is followed by one that observes.
//
// What the autoscaler made is found through Kubernetes, and so are the budgets of pods.
// No command uses it yet.
package upgrade
