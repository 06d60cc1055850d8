// Package kube says what to do in the Kubernetes API of a cluster, so that
// it holds what the rendered tree says: a pure function of what is desired
// ([Desired]), what was seen ([Observed]) and what was agreed to.
//
// Every object has one owner. What is in bootstrap/ is talosgen's, for good.
// What a Kustomization of Flux names is Flux's: talosgen makes it at most once,
// exactly as Flux would, before Flux has looked at it, and then never touches it
// again, unless the Kustomization is suspended. Fields that somebody else owns
// are never taken by force: that is a conflict, and [Takeover] repairs it.
package kube
