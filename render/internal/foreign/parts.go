package foreign

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/machine"
)

// Parts are what a schematic consists of; the zero value if that is nothing, or is not
// known.
type Parts struct {
	Extensions, KernelArgs []string
	Overlay                machine.Overlay
}

// schematicFile is a schematic as the Image Factory takes it, as far as an environment
// has options for it.
type schematicFile struct {
	Overlay       machine.Overlay `yaml:"overlay"`
	Customization struct {
		ExtraKernelArgs  []string `yaml:"extraKernelArgs"`
		SystemExtensions struct {
			OfficialExtensions []string `yaml:"officialExtensions"`
		} `yaml:"systemExtensions"`
	} `yaml:"customization"`
}

// partsOf are those of a schematic that is written out. One that cannot be read is one of
// which only the id is known.
func partsOf(n *yaml.Node) (p Parts) {
	var s schematicFile
	if n.IsZero() || n.Decode(&s) != nil {
		return p
	}
	return Parts{Extensions: s.Customization.SystemExtensions.OfficialExtensions, KernelArgs: s.Customization.ExtraKernelArgs, Overlay: s.Overlay}
}

// partsIn are those of a schematic in a file of the source, which is named with @.
func (r *generated) partsIn(reference string) (p Parts) {
	file, isFile := strings.CutPrefix(reference, "@")
	if !isFile {
		return p
	}
	data, err := fs.ReadFile(r.Files, path.Clean(file))
	var doc yaml.Node
	if err != nil || yaml.Unmarshal(data, &doc) != nil {
		return p
	}
	return partsOf(&doc)
}

// know notes what the schematic of a node consists of.
func (r *generated) know(node string, p Parts) {
	if i := slices.IndexFunc(r.origin.Machines, func(m Machine) bool { return m.Name == nodeName(node) }); i >= 0 {
		r.origin.Machines[i].Parts = p
	}
}
