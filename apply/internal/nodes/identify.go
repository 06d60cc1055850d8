package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// identify makes sure that a machine in maintenance mode is the one that is
// meant, and that nothing is lost on the disk that Talos is installed on.
// Machines that were just made from an image need neither.
func identify(ctx context.Context, client *node.Client, m Machine) error {
	if m.Match == (schemas.InfraMatch{}) && m.InstallDisk == "" {
		return nil
	}
	hardware, err := client.Hardware(ctx)
	if err != nil {
		return err
	}
	if wrong := mismatch(hardware, m.Match); wrong != "" {
		return diag.On("node "+m.Name, "another machine has its address: %s", wrong).
			WithHint("correct match or bootAddress of the node in cluster.yaml").WithCode(diag.Remote)
	}
	if m.InstallDisk == "" {
		return nil
	}
	if container, err := client.Container(ctx); err != nil || container {
		return err
	}
	if foreign := foreignSystem(hardware, m.InstallDisk); foreign != "" {
		return diag.On("node "+m.Name, "%s", foreign).WithCode(diag.Remote).WithCause(&diskError{foreign}).
			WithHint("%s", nodeplan.UnfitHint)
	}
	return nil
}

// diskError is a machine that is the one that is meant, and has a disk that Talos
// must not be installed on.
type diskError struct{ what string }

// Error says what is wrong with it.
func (e *diskError) Error() string { return e.what }

// mismatch says what of a machine is not as it should be; empty if all is.
func mismatch(h node.Hardware, want schemas.InfraMatch) string {
	var wrong []string
	differ := func(what, want string, have ...string) {
		if want != "" && !slices.ContainsFunc(have, func(s string) bool { return strings.EqualFold(s, want) }) {
			wrong = append(wrong, fmt.Sprintf("its %s is %s, not %s", what, strings.Join(have, " and "), want))
		}
	}
	differ("MAC address", want.MAC, h.MACs...)
	differ("UUID", want.UUID, h.UUID)
	differ("serial number", want.Serial, h.Serial)
	return strings.Join(wrong, ", ")
}

// talosPartitions are the labels of partitions that Talos makes; see
// pkg/machinery/constants.
var talosPartitions = []string{"EFI", "BIOS", "BOOT", "META", "STATE", "EPHEMERAL", "IMAGECACHE"}

// foreignSystem says what of others is on a disk; empty if it is a disk that
// Talos may have: empty, or with Talos on it.
func foreignSystem(h node.Hardware, name string) string {
	i := slices.IndexFunc(h.Disks, func(d node.Disk) bool { return d.Path == name || slices.Contains(d.Symlinks, name) })
	if i < 0 {
		return fmt.Sprintf("it has no disk %s, but %s", name, strings.Join(paths(h.Disks), ", "))
	}
	disk := h.Disks[i].Path
	for _, v := range h.Volumes {
		switch {
		case v.Path == disk && v.Content != "" && v.Content != "gpt":
			return fmt.Sprintf("there is something on its disk %s: %s", disk, describe(v))
		case v.Parent == disk && !slices.Contains(talosPartitions, v.PartitionLabel):
			return fmt.Sprintf("another system is on its disk %s: %s is %s", disk, v.Path, describe(v))
		}
	}
	return ""
}

func describe(v node.Volume) string {
	var parts []string
	for _, p := range []string{v.Content, v.PartitionLabel, v.Label} {
		if p != "" && !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return "a partition"
	}
	return strings.Join(parts, " ")
}

func paths(disks []node.Disk) []string {
	names := []string{}
	for _, d := range disks {
		if !d.CDROM && !d.ReadOnly {
			names = append(names, d.Path)
		}
	}
	if len(names) == 0 {
		return []string{"none"}
	}
	return names
}
