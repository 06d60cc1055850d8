// Package health says whether a cluster is well: from what its nodes, the
// members of etcd and Kubernetes say ([Facts]), which checks hold ([Check]).
// The checks are those that talosctl makes, and a few about etcd that it does
// not.
//
// Reading ([Collector]) and judging are apart: judging is a pure function. A
// [Guard] keeps watch over a run that disturbs nodes.
package health
