package machine

import (
	"strings"
	"testing"
)

// TestImageURLs: images are where the Image Factory has them, and what a platform has
// none of is left out.
func TestImageURLs(t *testing.T) {
	const at, pxe = "https://factory.talos.dev/image/0123/", "https://pxe.factory.talos.dev/pxe/0123/"
	for name, c := range map[string]struct {
		image Image
		want  ImageURLs
	}{
		"machine": {
			Image{Platform: "metal", Architecture: "arm64", Version: "v1.14.1"},
			ImageURLs{"factory.talos.dev/metal-installer/0123:v1.14.1", at + "v1.14.1/metal-arm64.iso", pxe + "v1.14.1/metal-arm64", at + "v1.14.1/metal-arm64.raw.zst"},
		},
		"secure boot": {
			Image{Platform: "metal", Architecture: "amd64", Version: "v1.13.9", SecureBoot: true},
			ImageURLs{"factory.talos.dev/metal-installer-secureboot/0123:v1.13.9", at + "v1.13.9/metal-amd64-secureboot.iso", pxe + "v1.13.9/metal-amd64-secureboot", at + "v1.13.9/metal-amd64-secureboot.raw.zst"},
		},
		"before 1.10": {
			Image{Platform: "metal", Architecture: "amd64", Version: "v1.9.6", SecureBoot: true},
			ImageURLs{"factory.talos.dev/installer-secureboot/0123:v1.9.6", at + "v1.9.6/metal-amd64-secureboot.iso", pxe + "v1.9.6/metal-amd64-secureboot", at + "v1.9.6/metal-amd64-secureboot.raw.zst"},
		},
		"appliance": {
			Image{Platform: "vmware", Architecture: "amd64", Version: "v1.14.1"},
			ImageURLs{Installer: "factory.talos.dev/vmware-installer/0123:v1.14.1", ISO: at + "v1.14.1/vmware-amd64.iso", Disk: at + "v1.14.1/vmware-amd64.ova"},
		},
		"PXE alone": {
			Image{Platform: "equinixMetal", Architecture: "amd64", Version: "v1.14.1"},
			ImageURLs{Installer: "factory.talos.dev/equinixMetal-installer/0123:v1.14.1", PXE: pxe + "v1.14.1/equinixMetal-amd64"},
		},
	} {
		c.image.Factory, c.image.Schematic = "factory.talos.dev", "0123"
		if have, err := c.image.URLs(); err != nil || have != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, have, err, c.want)
		}
	}
	own, err := Image{Factory: "factory.example.com", Platform: "metal", Architecture: "amd64", Schematic: "0123", Version: "v1.14.1"}.URLs()
	if err != nil || !strings.HasPrefix(own.PXE, "https://factory.example.com/pxe/") {
		t.Errorf("another factory: %+v, %v", own, err)
	}
}
