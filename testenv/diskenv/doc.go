// Package diskenv gives tests a disk that Talos' own installers write to: GRUB with its slots
// A and B, or systemd-boot with its kernels, and META. What is not there is what boots: the
// kernels are names of systems, and a boot is a look at which of them comes next, with the
// part of machined that has to do with META and the boot loader.
//
// It needs root, a loop device, and programs of Debian that testenv/prepare installs.
// Everything happens in a file, a mount namespace and a root of its own. The kernel need
// not know vfat: the partition of EFI has ext4, by an edit of the installers.
package diskenv
