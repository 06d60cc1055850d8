package upgrade

import (
	"strings"
	"testing"
)

func TestParseInstaller(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for image, want := range map[string]Installer{
		"factory.talos.dev/hcloud-installer/" + id + ":v1.14.1":                         {"factory.talos.dev/hcloud-installer/" + id, id, "hcloud", false},
		"factory.talos.dev/metal-installer-secureboot/" + id + ":v1.14.1":               {"factory.talos.dev/metal-installer-secureboot/" + id, id, "metal", true},
		"factory.talos.dev/installer/" + id + ":v1.10.0":                                {"factory.talos.dev/installer/" + id, id, "", false},
		"factory.talos.dev/installer-secureboot/" + id + ":v1.10.0":                     {"factory.talos.dev/installer-secureboot/" + id, id, "", true},
		"mirror.example.com:5000/talos/equinix-metal-installer/" + id + "@sha256:" + id: {"mirror.example.com:5000/talos/equinix-metal-installer/" + id, id, "equinix-metal", false},
		"mirror.example.com:5000/hcloud-installer/" + id + ":v1.14.1@sha256:" + id:      {"mirror.example.com:5000/hcloud-installer/" + id, id, "hcloud", false},
		"ghcr.io/siderolabs/installer:v1.14.1":                                          {Repository: "ghcr.io/siderolabs/installer"},
		"registry.example.com:5000/talos/own-installer":                                 {Repository: "registry.example.com:5000/talos/own-installer"},
		"": {},
	} {
		if got := ParseInstaller(image); got != want {
			t.Errorf("%s is %+v", image, got)
		}
	}
}
