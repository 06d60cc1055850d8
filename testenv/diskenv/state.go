//go:build linux

package diskenv

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// State is what a disk holds.
type State struct {
	Next    string   // what the next boot takes
	Systems []string // sorted
	Tag     bool     // of an upgrade, in META
}

// State reads the disk of a machine that runs. It does so by itself, and not by Talos'
// packages, but for META.
func (d *Disk) State() State {
	d.t.Helper()

	systems, next := d.probe()

	return State{next, slices.Sorted(maps.Values(systems)), strings.HasPrefix(d.Ask("tag"), "true")}
}

// probe reads the systems by their places, and which of them the next boot takes.
func (d *Disk) probe() (systems map[string]string, next string) {
	d.t.Helper()

	label := "BOOT"
	if d.uefi {
		label = "EFI"
	}

	d.room.run("", "mount", "-o", "ro", d.partition(label), "/mnt")
	defer d.room.run("", "umount", "/mnt")

	systems = map[string]string{}

	kernels, at := d.places(filepath.Join(d.room.root(), "mnt"))
	for place, file := range kernels {
		systems[place] = systemOf([]byte(d.read(file)))
	}

	if systems[at] == "" {
		d.t.Fatalf("the next boot would take %q of %v", at, systems)
	}

	return systems, systems[at]
}

// places finds the files of kernels: by slots with GRUB, by names with systemd-boot; and
// the place of the one that boots next.
func (d *Disk) places(folder string) (kernels map[string]string, next string) {
	d.t.Helper()

	if d.uefi {
		const variable = "sys/firmware/efi/efivars/LoaderEntryDefault-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

		data := d.read(filepath.Join(d.room.root(), variable))

		return d.files(filepath.Join(folder, "EFI/Linux/*.efi"), filepath.Base), text([]byte(data[4:])) // what is before it are attributes
	}

	match := regexp.MustCompile(`(?m)^set default="([AB]) - `).FindStringSubmatch(d.read(filepath.Join(folder, "grub/grub.cfg")))
	if match == nil {
		d.t.Fatal("grub.cfg has no default")
	}

	return d.files(filepath.Join(folder, "[AB]/vmlinuz"), func(name string) string { return filepath.Base(filepath.Dir(name)) }), match[1]
}

// files are those that fit a pattern, by what a function makes of their names.
func (d *Disk) files(glob string, key func(name string) string) map[string]string {
	d.t.Helper()

	names, err := filepath.Glob(glob)
	if err != nil {
		d.t.Fatal(err)
	}

	found := map[string]string{}
	for _, name := range names {
		found[key(name)] = name
	}

	return found
}

// text is UTF-16 up to its end.
func text(data []byte) string {
	units := make([]uint16, 0, len(data)/2)

	for pair := range slices.Chunk(data, 2) {
		units = append(units, binary.LittleEndian.Uint16(pair))
	}

	return strings.TrimRight(string(utf16.Decode(units)), "\x00")
}

// partition is the device of a partition of the disk, as its GPT has it.
func (d *Disk) partition(label string) string {
	d.t.Helper()

	const sector, entry, name, end = 512, 128, 56, 128

	disk, err := os.Open(d.device)
	if err != nil {
		d.t.Fatal(err)
	}
	defer disk.Close()

	for n := 1; n <= 8; n++ {
		data := make([]byte, entry)

		if _, err := disk.ReadAt(data, int64(2*sector+(n-1)*entry)); err != nil {
			d.t.Fatal(err)
		}

		if text(data[name:end]) == label {
			return fmt.Sprintf("%sp%d", d.device, n)
		}
	}

	d.t.Fatalf("%s has no partition %s", d.device, label)

	return ""
}

func (d *Disk) read(name string) string {
	d.t.Helper()

	data, err := os.ReadFile(name)
	if err != nil {
		d.t.Fatal(err)
	}

	return string(data)
}
