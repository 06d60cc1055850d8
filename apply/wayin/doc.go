// Package wayin is how operators get in to the nodes of a cluster: what rules and
// session access let in, and what a proxy through the gateway leads to. It is pure.
package wayin
