// Package upgrade says how a cluster gets to the versions of Talos and Kubernetes
// that Git has, from any mixture of versions and from any interrupted run: a pure
// function of what Git wants ([Desired]), what was observed ([Observed]) and what
// the operator agreed to ([Policy]).
//
// [Next] returns the steps that may begin now. They follow from what is observed,
// never from a stored list: a run that was killed goes on by observing again. A
// [Plan] is what Next would do if everything worked.
//
// Its rules are the invariants of an upgrade: one control plane at a time, the
// leader of etcd last; never two installations in one boot; nothing that disturbs
// without a snapshot, without health or without consent; one minor at a time, on
// all nodes before the next.
package upgrade
