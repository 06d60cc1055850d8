package talossim

import (
	"cmp"
	"fmt"
)

const mebibyte = 1 << 20

// Sizes of the partition with the systems: GRUB's own, and that of the firmware, which
// systemd-boot takes.
const (
	grubSize = 1000 * mebibyte
	ukiSize  = 2101 * mebibyte
)

// partitions are what Talos makes of its disk.
func (m *Machine) partitions(disk string) (all []Partition) {
	add := func(content, label string, size int64) {
		all = append(all, Partition{fmt.Sprint(disk, len(all)+1), content, label, label, size})
	}
	if m.spec.Bootloader == SystemdBoot {
		add("vfat", "EFI", cmp.Or(m.spec.BootSize, ukiSize))
	} else {
		add("vfat", "EFI", 100*mebibyte)
		add("", "BIOS", mebibyte)
		add("xfs", "BOOT", cmp.Or(m.spec.BootSize, grubSize))
	}
	add("talosmeta", "META", mebibyte)
	add("xfs", "STATE", 100*mebibyte)
	add("xfs", "EPHEMERAL", 40960*mebibyte)
	return all
}

// volumeResources are what is on the disks: on the first one Talos, if it is
// installed.
func (m *Machine) volumeResources() (all []resource) {
	for i, d := range m.spec.Disks {
		if i == 0 && m.installed {
			d.Content, d.Partitions = "gpt", m.partitions(d.Path)
		} else if m.wiped {
			d.Content, d.Partitions = "", nil
		}
		all = append(all, volume("", Partition{d.Path, d.Content, "", "", int64(d.Size)}))
		for _, p := range d.Partitions {
			all = append(all, volume(d.Path, p))
		}
	}
	return all
}

func volume(parent string, p Partition) resource {
	return resource{namespace: "runtime", id: base(p.Path), spec: fields{
		"dev_path": p.Path, "parent_dev_path": parent, "name": p.Content, "label": p.Label, "partition_label": p.PartitionLabel, "size": p.Size,
	}}
}

func base(path string) string { return path[len("/dev/"):] }

// securityResource says how the machine was booted.
func (m *Machine) securityResource() []resource {
	return []resource{{namespace: "runtime", id: "securitystate", spec: fields{"secureBoot": m.spec.SecureBoot, "bootedWithUKI": m.spec.Bootloader == SystemdBoot}}}
}
