// Package access makes what people and apply show to a cluster: short-lived
// client certificates, signed with the authorities that are in the machine
// configuration of a control plane, and the files that talosctl and kubectl
// read them from.
//
// It is pure: the configuration, the files that exist already, the time and the
// randomness are passed in, and nothing is written.
package access
