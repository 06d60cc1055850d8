// Package nodes does what a plan of nodes says: it looks at the nodes of a
// cluster, all at once, and takes the steps of a [nodeplan.Plan] one by one.
//
// It believes what a node says of itself only over a connection whose
// certificate the cluster's authority signed. A node that was not read is
// unreachable, never absent.
package nodes
