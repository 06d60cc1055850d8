package node

import (
	"fmt"
	"slices"

	blockpb "github.com/siderolabs/talos/pkg/machinery/api/resource/definitions/block"
	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	talosproto "github.com/siderolabs/talos/pkg/machinery/proto"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Disk is a disk of a machine, as Talos describes it.
type Disk = block.DiskSpec

// DiskSelector is what the disk must be like that Talos is installed on.
type DiskSelector struct {
	path  string          // or a symbolic link to it; empty: match decides
	match *cel.Expression // nil: path decides
}

// SelectDisk makes a selector from the section machine.install of a configuration, and
// from what matches the disk of UnattendedInstallConfig, which comes first. It is nil
// if neither says which disk. As for Talos, diskSelector wins over disk.
func SelectDisk(section []byte, match string) (*DiskSelector, error) {
	if match != "" {
		s := &DiskSelector{match: &cel.Expression{}}
		if err := s.match.UnmarshalText([]byte(match)); err != nil {
			return nil, diag.On("UnattendedInstallConfig", "its disk selector cannot be read: %v", err)
		}
		return s, nil
	}
	var install v1alpha1.InstallConfig
	if err := yaml.Unmarshal(section, &install); err != nil {
		return nil, diag.On("machine.install", "it cannot be read")
	}
	expression, err := install.DiskMatchExpression()
	switch {
	case err != nil:
		return nil, diag.On("machine.install.diskSelector", "it cannot be read: %v", err)
	case expression != nil:
		return &DiskSelector{match: expression}, nil
	case install.Disk() != "":
		return &DiskSelector{path: install.Disk()}, nil
	}
	return nil, nil
}

// String says which disk it is, as in "no disk …".
func (s *DiskSelector) String() string {
	if s.match == nil {
		return s.path
	}
	return "with " + s.match.String()
}

// Matches reports whether Talos may be installed on a disk.
func (s *DiskSelector) Matches(disk Disk) (bool, error) {
	if s.match == nil {
		return disk.DevPath == s.path || slices.Contains(disk.Symlinks, s.path), nil
	}
	resource, spec := block.NewDisk(block.NamespaceName, disk.DevPath), &blockpb.DiskSpec{}
	*resource.TypedSpec() = disk
	err := talosproto.ResourceSpecToProto(resource, spec)
	if err != nil {
		return false, err
	}
	ok, err := s.match.EvalBool(celenv.DiskLocator(), map[string]any{"disk": spec, "system_disk": false})
	if err != nil {
		return false, fmt.Errorf("evaluating %s: %w", s.match, err)
	}
	return ok, nil
}
