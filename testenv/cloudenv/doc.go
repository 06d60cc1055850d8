// Package cloudenv is a simulated project of Hetzner Cloud whose servers are
// real Talos nodes, for tests. A server with Talos is a node of a bed of
// testenv/talosenv, at its private address; the NAT gateway is a real SSH server
// at its public one, with the host key in its user data. So nothing reaches a
// node but through the gateway.
package cloudenv
