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

// SchematicID computes the id that the Image Factory gives to an image with
// official extensions and kernel arguments. The order of both matters to it.
func SchematicID(extensions, kernelArgs []string) (string, error) {
	var s schematic
	s.Customization.ExtraKernelArgs = kernelArgs
	s.Customization.SystemExtensions.OfficialExtensions = extensions
	text, err := yaml.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encoding the schematic: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
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
