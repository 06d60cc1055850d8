package machine

import (
	"fmt"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
)

// Image is an image of the Image Factory.
type Image struct {
	Factory, Platform, Architecture string
	Schematic                       string // its id
	Version                         string // of Talos
}

// publicFactory is the Image Factory whose PXE scripts have a host of their own.
const publicFactory = "factory.talos.dev"

// ImageURLs are where an image is.
type ImageURLs struct {
	Installer string `json:"installer"` // a container image
	ISO       string `json:"iso"`
	PXE       string `json:"pxe"`
	Disk      string `json:"disk"`
}

// URLs returns where the image is. Nothing is asked: the factory makes it when it is
// fetched.
func (i Image) URLs() (u ImageURLs, err error) {
	if u.Installer, err = InstallImage(i.Factory, i.Platform, i.Schematic, i.Version); err != nil {
		return u, err
	}
	vc, err := parseContract(i.Version)
	if err != nil {
		return u, err
	}
	name := fmt.Sprintf("%s/%s/%s-%s", i.Schematic, i.Version, i.Platform, i.Architecture)
	pxe := i.Factory
	if pxe == publicFactory {
		pxe = "pxe." + publicFactory
	}
	compressed := ".raw.zst"
	if i.Platform == "hcloud" || !vc.Greater(talosconfig.TalosVersion1_7) {
		compressed = ".raw.xz" // what the rescue system of Hetzner unpacks, and what there was first
	}
	u.ISO = "https://" + i.Factory + "/image/" + name + ".iso"
	u.PXE = "https://" + pxe + "/pxe/" + name
	u.Disk = "https://" + i.Factory + "/image/" + name + compressed
	return u, nil
}
