// Package image makes snapshots with Talos. Hetzner Cloud takes no uploads, so a
// temporary server boots Hetzner's rescue system, downloads the disk image of
// the Image Factory, writes it over its own disk, reads it back and is
// switched off; the snapshot is taken of that disk.
//
// Which snapshots are in use, and by what, is decided here as well.
package image
