// Package upgrade moves the nodes of a cluster to other versions of Talos, as the
// package plan/upgrade decides: it observes, takes the steps that may begin, and
// observes again until nothing is left to do.
//
// It keeps nothing between runs. What a run has begun with a node stands at the node
// in Kubernetes, as a mark that is written before the installer is called: a run that
// was killed at any call is followed by one that observes.
//
// It does not look at nodes that the autoscaler made, at the budgets of pods or at the
// size of boot partitions yet: a budget ends a drain, and the installer of a node
// without room fails, both before anything is lost. No command uses it until it does.
package upgrade
