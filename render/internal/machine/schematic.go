package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"go.yaml.in/yaml/v4"
)

// schematic is the part of an Image Factory schematic that talosgen uses. Its
// fields are in the order in which the factory encodes them: the id is the
// SHA-256 of that encoding (github.com/siderolabs/image-factory,
// pkg/schematic, v1.4.0).
type schematic struct {
	Customization struct {
		ExtraKernelArgs  []string `yaml:"extraKernelArgs,omitempty"`
		SystemExtensions struct {
			OfficialExtensions []string `yaml:"officialExtensions,omitempty"`
		} `yaml:"systemExtensions,omitempty"`
	} `yaml:"customization"`
}

// Schematic is a schematic of the Image Factory.
type Schematic struct {
	// Its id: the SHA-256 of the text.
	ID string
	// The document that the factory has to be told once, before it makes images.
	Text string
}

// NewSchematic returns the schematic of an image with official extensions and
// kernel arguments. The order of both matters to the Image Factory.
func NewSchematic(extensions, kernelArgs []string) Schematic {
	var s schematic
	s.Customization.ExtraKernelArgs = kernelArgs
	s.Customization.SystemExtensions.OfficialExtensions = extensions
	text, err := yaml.Marshal(s)
	if err != nil {
		panic("a schematic of texts cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return Schematic{ID: hex.EncodeToString(sum[:]), Text: string(text)}
}

// InstallImage names the installer image of a schematic. Before Talos 1.10 the
// factory had one installer for all platforms.
func InstallImage(factory, platform, schematicID, talosVersion string) (string, error) {
	vc, err := parseContract(talosVersion)
	if err != nil {
		return "", err
	}
	name := platform + "-installer"
	if !vc.Greater(talosconfig.TalosVersion1_9) {
		name = "installer"
	}
	return fmt.Sprintf("%s/%s/%s:%s", factory, name, schematicID, talosVersion), nil
}
