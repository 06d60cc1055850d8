// Package render turns the sources of an environment into its committed tree:
// validated machine configurations with their secrets encrypted, and the lock
// that says what they were made from. It also answers questions about that
// tree: is it up to date, what would change, and why is a value there.
//
// The package is used by cmd/talosgen, as are those beside it: vault, charts,
// nodepools, check and convert. Its parts are in render/internal; there is no
// promise of a stable interface before version 1.
package render
