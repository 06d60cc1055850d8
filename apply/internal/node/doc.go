// Package node talks to the API of a Talos node: in maintenance mode, in which
// it asks for no certificate, and with a client certificate afterwards.
//
// Each call is to one node, at its own address, through the [reach.Transport]
// that leads there. Resources are read in the YAML form that the node gives
// them, so a node of another version, with documents that the linked library
// does not know, can be read too.
package node
