// Package reach opens connections to nodes: straight to their addresses, through
// an SSH server that stands before them, or through an HTTP proxy.
//
// It carries bytes and trusts nobody: what goes through is TLS from end to end.
// The SSH server is known by its key, which stands in the rendered tree.
package reach
