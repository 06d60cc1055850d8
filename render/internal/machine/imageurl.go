package machine

import (
	"fmt"
	"slices"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/platforms"
)

// Image is an image of the Image Factory.
type Image struct {
	Factory, Platform, Architecture string
	Schematic                       string // its id
	Version                         string // of Talos
	SecureBoot                      bool
}

// publicFactory is the Image Factory whose PXE scripts have a host of their own.
const publicFactory = "factory.talos.dev"

// ImageURLs are where an image is.
type ImageURLs struct {
	Installer string `json:"installer"` // a container image
	// Those below are empty if a platform has none.
	ISO  string `json:"iso,omitempty"`
	PXE  string `json:"pxe,omitempty"`
	Disk string `json:"disk,omitempty"`
}

// URLs returns where the image is. Nothing is asked: the factory makes it when it is
// fetched.
func (i Image) URLs() (u ImageURLs, err error) {
	if u.Installer, err = InstallImage(i); err != nil {
		return u, err
	}
	vc, err := parseContract(i.Version)
	if err != nil {
		return u, err
	}
	name := fmt.Sprintf("%s/%s/%s-%s%s", i.Schematic, i.Version, i.Platform, i.Architecture, i.variant())
	of := platformOf(i.Platform)
	if slices.Contains(of.BootMethods, platforms.BootMethodISO) {
		u.ISO = "https://" + i.Factory + "/image/" + name + ".iso"
	}
	if slices.Contains(of.BootMethods, platforms.BootMethodPXE) {
		u.PXE = "https://" + pxeHost(i.Factory) + "/pxe/" + name
	}
	if suffix := of.DiskImageSuffix; suffix != "" {
		if suffix == "raw.zst" && !vc.Greater(talosconfig.TalosVersion1_7) {
			suffix = "raw.xz" // what there was first
		}
		u.Disk = "https://" + i.Factory + "/image/" + name + "." + suffix
	}
	return u, nil
}

func pxeHost(factory string) string {
	if factory == publicFactory {
		return "pxe." + publicFactory
	}
	return factory
}

// platformOf is what Talos says of a platform; of one that it does not know, nothing.
func platformOf(name string) platforms.Platform {
	all := append(platforms.CloudPlatforms(), platforms.MetalPlatform())
	if i := slices.IndexFunc(all, func(p platforms.Platform) bool { return p.Name == name }); i >= 0 {
		return all[i]
	}
	return platforms.Platform{}
}
