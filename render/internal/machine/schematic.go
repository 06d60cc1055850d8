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
	Overlay       Overlay `yaml:"overlay,omitempty"`
	Customization struct {
		ExtraKernelArgs  []string `yaml:"extraKernelArgs,omitempty"`
		SystemExtensions struct {
			OfficialExtensions []string `yaml:"officialExtensions,omitempty"`
		} `yaml:"systemExtensions,omitempty"`
	} `yaml:"customization"`
}

// Overlay is a part of an image for single-board computers; the zero value is none.
type Overlay struct {
	Image string `yaml:"image,omitempty"`
	Name  string `yaml:"name,omitempty"`
}

// Schematic is a schematic of the Image Factory.
type Schematic struct {
	// Its id: the SHA-256 of the text.
	ID string
	// The document that the factory has to be told once, before it makes images.
	Text string
}

// NewSchematic returns the schematic of an image with official extensions, kernel
// arguments and an overlay. The order of both lists matters to the Image Factory.
func NewSchematic(extensions, kernelArgs []string, overlay Overlay) Schematic {
	s := schematic{Overlay: overlay}
	s.Customization.ExtraKernelArgs = kernelArgs
	s.Customization.SystemExtensions.OfficialExtensions = extensions
	text, err := yaml.Marshal(s)
	if err != nil {
		panic("a schematic of texts cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return Schematic{ID: hex.EncodeToString(sum[:]), Text: string(text)}
}

// InstallImage names the installer image of an image. Before Talos 1.10 the factory had
// one installer for all platforms.
func InstallImage(i Image) (string, error) {
	vc, err := parseContract(i.Version)
	if err != nil {
		return "", err
	}
	name := i.Platform + "-installer"
	if !vc.Greater(talosconfig.TalosVersion1_9) {
		name = "installer"
	}
	return fmt.Sprintf("%s/%s/%s:%s", i.Factory, name+i.variant(), i.Schematic, i.Version), nil
}

// variant is what names of images that boot with secure boot have besides.
func (i Image) variant() string {
	if i.SecureBoot {
		return "-secureboot"
	}
	return ""
}
