package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

// host is what prepare knows of the machine.
type host struct {
	findProgram func(program string) (string, error)
	root        bool
	run         func(name string, args ...string) error
}

// thisHost is the machine that prepare runs on. What its commands print goes
// to out.
func thisHost(out io.Writer) host {
	return host{
		findProgram: exec.LookPath,
		root:        os.Geteuid() == 0,
		run: func(name string, args ...string) error {
			command := exec.Command(name, args...)
			command.Stdout, command.Stderr = out, out
			command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")

			return command.Run()
		},
	}
}

// prepareHost installs what the nodes and the longer tests need of the operating
// system where that can be done, and else says so: those tests are skipped then.
func prepareHost(h host, out io.Writer, modules []cache.Module) {
	packages := missingPackages(h, modules)
	if len(packages) == 0 {
		return
	}

	install := append([]string{"install", "-y", "--no-install-recommends"}, packages...)

	if _, err := h.findProgram("apt-get"); err == nil && h.root {
		if err = h.run("apt-get", install...); err == nil {
			return
		}

		fmt.Fprintf(out, "apt-get: %v\n", err)
	}

	fmt.Fprintf(out, "The tests need more of this machine: apt-get install %s\n", strings.Join(packages, " "))
}

// shells are those that completions are tested in, besides bash.
var shells = []cache.HostProgram{{Name: "zsh", Package: "zsh"}, {Name: "fish", Package: "fish"}}

// browser is what the documentation site is looked at in.
var browser = cache.HostProgram{Name: "chromium", Package: "chromium"}

// forInstallers are what the installers of Talos call, and what boots their disks. What
// GRUB boots by is no program, but comes with one.
var forInstallers = []cache.HostProgram{
	{Name: "grub-install", Package: "grub2-common"},
	{Name: "/usr/lib/grub/i386-pc/grub-bios-setup", Package: "grub-pc-bin"},
	{Name: "mkfs.xfs", Package: "xfsprogs"},
	{Name: "qemu-system-x86_64", Package: "qemu-system-x86"},
}

// missingPackages are those that have programs that are not there.
func missingPackages(h host, modules []cache.Module) (packages []string) {
	var needed []cache.HostProgram

	if anyBelow(modules, "talosnode/") {
		needed = append(append(cache.HostPrograms(), shells...), browser)
	}

	if anyBelow(modules, "talosnode/installer-") {
		needed = append(needed, forInstallers...)
	}

	for _, program := range needed {
		if _, err := h.findProgram(program.Name); err != nil {
			packages = append(packages, program.Package)
		}
	}

	return packages
}

// anyBelow reports whether the folder of a module begins so.
func anyBelow(modules []cache.Module, folder string) bool {
	return slices.ContainsFunc(modules, func(m cache.Module) bool { return strings.HasPrefix(m.Folder, folder) })
}
