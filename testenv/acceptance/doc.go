// Package acceptance has tests that do what users do: they run talosgen as a
// program, on real Talos nodes of testenv/talosenv, also behind the servers of a
// simulated Hetzner Cloud project (testenv/cloudenv). Nothing else is in it.
package acceptance
