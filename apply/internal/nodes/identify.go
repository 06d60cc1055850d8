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

// InstallDisks say on which disk Talos is installed by the configuration from Git of
// a machine that exists already; nil if the configuration does not say.
type InstallDisks func(ctx context.Context, node string) (*node.DiskSelector, error)

// identify makes sure that a machine in maintenance mode is the one that is
// meant, and that nothing is lost on the disk that Talos is installed on.
// Machines that were just made from an image need neither.
func (disks InstallDisks) identify(ctx context.Context, client *node.Client, m Machine) error {
	var install *node.DiskSelector
	if disks != nil {
		var err error
		if install, err = disks(ctx, m.Name); err != nil {
			return err
		}
	}
	if m.Match == (schemas.InfraMatch{}) && install == nil {
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
	if install == nil {
		return nil
	}
	if container, err := client.Container(ctx); err != nil || container {
		return err
	}
	foreign, err := foreignSystem(hardware, install)
	if err != nil {
		return diag.On("node "+m.Name, "its disk selector: %v", err)
	}
	if foreign != "" {
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

// foreignSystem says what of others is on a disk that Talos may be installed on;
// empty if all of these are empty, or have Talos on them. Of several, Talos takes one
// that nobody has chosen.
func foreignSystem(h node.Hardware, install *node.DiskSelector) (string, error) {
	found := false
	for _, d := range h.Disks {
		fits, err := install.Matches(d)
		if err != nil {
			return "", err
		}
		if !fits {
			continue
		}
		found = true
		if foreign := foreignOn(h.Volumes, d.DevPath); foreign != "" {
			return foreign, nil
		}
	}
	if !found {
		return fmt.Sprintf("it has no disk %s, but %s", install, strings.Join(paths(h.Disks), ", ")), nil
	}
	return "", nil
}

// foreignOn says what of others is on a disk; empty if there is nothing.
func foreignOn(volumes []node.Volume, disk string) string {
	for _, v := range volumes {
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
		if !d.CDROM && !d.Readonly {
			names = append(names, d.DevPath)
		}
	}
	if len(names) == 0 {
		return []string{"none"}
	}
	return names
}
