// Package rescue talks to Hetzner's rescue system over SSH: it waits until the system
// lets a key in, runs scripts there, and lets it write a disk image to a disk and read
// that back.
package rescue
