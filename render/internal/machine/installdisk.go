package machine

import (
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/cel"
	"github.com/siderolabs/talos/pkg/machinery/cel/celenv"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/types/runtime"

	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/legacy"
)

// diskPlaces are where contracts keep the disk that Talos is installed on, by
// document: a path, or what a disk must be like.
var diskPlaces = []struct {
	document ID
	path     yamltext.Path
}{
	{MainID, yamltext.Path{yamltext.Key("machine"), yamltext.Key("install"), yamltext.Key("disk")}},
	{MainID, yamltext.Path{yamltext.Key("machine"), yamltext.Key("install"), yamltext.Key("diskSelector")}},
	{kind("UnattendedInstallConfig"), yamltext.Path{yamltext.Key("provisioning"), yamltext.Key("diskSelector"), yamltext.Key("match")}},
}

// SelectsDisk reports whether the configuration says on which disk Talos is
// installed.
func (c *Config) SelectsDisk() (bool, error) {
	for _, p := range diskPlaces {
		doc := c.Document(p.document)
		if doc == nil {
			continue
		}
		leaves, err := doc.Leaves()
		if err != nil {
			return false, err
		}
		for _, l := range leaves {
			if len(l.Path) >= len(p.path) && slices.Equal(l.Path[:len(p.path)], p.path) && l.Value != "" {
				return true, nil
			}
		}
	}
	return false, nil
}

// matchLink corrects how the library looks for a disk that is named by a symbolic
// link, as in /dev/disk/by-id: it compares the link with the path of the device.
func matchLink(doc config.Document, disk string) {
	if install, ok := doc.(*runtime.UnattendedInstallConfigV1Alpha1); ok && disk != "" {
		install.ProvisioningSpec.DiskSelector.Match = cel.MustExpression(cel.ParseBooleanExpression(legacy.DiskPath(disk), celenv.DiskLocator()))
	}
}

// installer is the document that says what is installed, of a node whose disk a
// patch selects: Talos' library leaves it out without a disk.
func installer(image string) config.Document {
	doc := runtime.NewUnattendedInstallConfigV1Alpha1()
	doc.Installer.Image = image
	return doc
}
