package nodes

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/schemas"
)

// TestMismatch: everything that is given must fit, however it is written.
func TestMismatch(t *testing.T) {
	h := node.Hardware{UUID: "4c4c4544-0043", Serial: "ABC1", MACs: []string{"00:00:5e:00:53:01", "00:00:5e:00:53:02"}}
	for _, tt := range []struct {
		name string
		want schemas.InfraMatch
		text string
	}{
		{"nothing is asked for", schemas.InfraMatch{}, ""},
		{"all fits", schemas.InfraMatch{MAC: "00:00:5E:00:53:02", UUID: "4C4C4544-0043", Serial: "ABC1"}, ""},
		{"another card", schemas.InfraMatch{MAC: "00:00:5e:00:53:09"}, "its MAC address is 00:00:5e:00:53:01 and 00:00:5e:00:53:02, not 00:00:5e:00:53:09"},
		{"another serial number", schemas.InfraMatch{MAC: "00:00:5e:00:53:01", Serial: "XYZ"}, "its serial number is ABC1, not XYZ"},
		{"two things", schemas.InfraMatch{UUID: "1", Serial: "2"}, "its UUID is 4c4c4544-0043, not 1, its serial number is ABC1, not 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := mismatch(h, tt.want); got != tt.text {
				t.Errorf("%q, want %q", got, tt.text)
			}
		})
	}
}

// TestForeignSystem: Talos is installed on a disk that is empty, or its own.
func TestForeignSystem(t *testing.T) {
	disks := []node.Disk{
		{DevPath: "/dev/sda", Size: 100 << 30, Transport: "sata", Symlinks: []string{"/dev/disk/by-id/wwn-1"}}, {DevPath: "/dev/nvme0n1", Size: 500 << 30, Transport: "nvme"}, {DevPath: "/dev/sr0", CDROM: true},
	}
	partition := func(label string) node.Volume {
		return node.Volume{Path: "/dev/sda1", Parent: "/dev/sda", Content: "ext4", PartitionLabel: label}
	}
	for _, tt := range []struct {
		name, disk string
		volumes    []node.Volume
		want       string
	}{
		{"empty", "/dev/sda", nil, ""},
		{"by a link", "/dev/disk/by-id/wwn-1", nil, ""},
		{"an empty table", "/dev/sda", []node.Volume{{Path: "/dev/sda", Content: "gpt"}}, ""},
		{"Talos", "/dev/sda", []node.Volume{{Path: "/dev/sda", Content: "gpt"}, partition("STATE"), partition("EPHEMERAL")}, ""},
		{"something on another disk", "/dev/nvme0n1", []node.Volume{{Path: "/dev/sda", Content: "gpt"}, partition("root")}, ""},
		{"another system", "/dev/sda", []node.Volume{{Path: "/dev/sda", Content: "gpt"}, partition("root")}, "another system is on its disk /dev/sda: /dev/sda1 is ext4 root"},
		{"one without a name", "/dev/sda", []node.Volume{{Path: "/dev/sda1", Parent: "/dev/sda"}}, "/dev/sda1 is a partition"},
		{"no partitions", "/dev/sda", []node.Volume{{Path: "/dev/sda", Content: "luks"}}, "there is something on its disk /dev/sda: luks"},
		{"no such disk", "/dev/vda", nil, "it has no disk /dev/vda, but /dev/sda, /dev/nvme0n1"},
		{"by a selector", "/dev/vda, diskSelector: {type: nvme, size: '>= 400GB'}", []node.Volume{{Path: "/dev/sda", Content: "luks"}}, ""},
		{"by a selector that wins over a path", "/dev/sda, diskSelector: {type: nvme}", []node.Volume{{Path: "/dev/nvme0n1", Content: "luks"}}, "on its disk /dev/nvme0n1: luks"},
		{"by an expression that fits two", "expression: disk.size > 1u * GiB", []node.Volume{{Path: "/dev/nvme0n1", Content: "ext4"}}, "on its disk /dev/nvme0n1: ext4"},
		{"by an expression", `expression: "/dev/disk/by-id/wwn-1" in disk.symlinks`, []node.Volume{{Path: "/dev/nvme0n1", Content: "ext4"}}, ""},
		{"no disk fits", "expression: disk.rotational", nil, "it has no disk with disk.rotational, but /dev/sda, /dev/nvme0n1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			section := "disk: " + tt.disk
			match, found := strings.CutPrefix(tt.disk, "expression: ")
			if !found {
				match = ""
			}
			disk, err := node.SelectDisk([]byte("{"+section+"}"), match)
			if err != nil {
				t.Fatal(err)
			}
			got, err := foreignSystem(node.Hardware{Disks: disks, Volumes: tt.volumes}, disk)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
