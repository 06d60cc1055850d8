// Package nodeconfig compares the machine configuration that a Talos node has
// with the one that Git has for it: which fields differ, what each difference
// needs (nothing, a restart, a reboot, a new node), and what is sent in the end.
//
// The package is pure: texts go in, values come out. It knows YAML, and the
// names of Talos' documents and fields; it does not know Talos' types, so that
// what a newer Talos adds is compared as well.
//
// Configurations are full of secrets. [Config] and [Difference] mask themselves
// however they are printed, and a [Change] holds texts that are masked already.
package nodeconfig
