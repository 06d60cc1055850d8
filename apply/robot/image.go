package robot

import (
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Image is the Talos that a machine is to have.
type Image struct {
	Factory   string // the host of the Image Factory
	Schematic string
	Version   string
	Secure    bool // for secure boot
}

// ImageOf reads which Talos a configuration installs, from the name of its installer, as
// in factory.talos.dev/metal-installer/<schematic>:<version>.
func ImageOf(installer string) (Image, error) {
	name, version, _ := strings.Cut(installer, ":")
	if i := strings.LastIndex(installer, ":"); i >= 0 {
		name, version = installer[:i], installer[i+1:]
	}
	parts := strings.Split(name, "/")
	if len(parts) != 3 || !strings.Contains(parts[1], "installer") || !strings.HasPrefix(version, "v") {
		return Image{}, diag.On("installer "+installer, "is not one of an Image Factory, so it is not known where its disk image is").
			WithHint("extensions or schematic of the node in cluster.yaml make it one").WithCode(diag.Usage)
	}
	return Image{Factory: parts[0], Schematic: parts[2], Version: version, Secure: strings.HasSuffix(parts[1], "-secureboot")}, nil
}

// source is where the disk image for an architecture is.
func (i Image) source(mirrors image.Mirrors, architecture string) image.Source {
	secure := ""
	if i.Secure {
		secure = "-secureboot"
	}
	url := fmt.Sprintf("https://%s/image/%s/%s/metal-%s%s.raw.xz", i.Factory, i.Schematic, i.Version, architecture, secure)
	return mirrors.Source(schemas.InfraSnapshot{Architecture: architecture, URL: url})
}
