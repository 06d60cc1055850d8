// Package diskenv gives tests a disk that Talos' own installers write to: GRUB with its slots
// A and B, or systemd-boot with its files, and META. Its kernels do nothing but say which
// system they are of. A boot is a look at which of them comes next, with the part of
// machined that has to do with META and the boot loader; or, with GRUB, one in QEMU.
//
// It needs root, a loop device, and programs of Debian that testenv/prepare installs.
// Everything happens in a file, a mount namespace and a root of its own. The kernel need
// not know vfat: the partition of the firmware has ext4, by an edit of the installers.
package diskenv
