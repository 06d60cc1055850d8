package machine

import (
	"strings"
	"testing"
)

// The image that a patch names installs another Talos than the one that all else
// is made for: wherever the contract keeps it, and whoever serves it.
func TestOtherInstaller(t *testing.T) {
	const (
		old   = "machine: {install: {image: %}}"
		newer = "{apiVersion: v1alpha1, kind: UnattendedInstallConfig, installer: {image: %}}"
	)
	for _, tt := range []struct{ contract, patch, image, place, version string }{
		{"v1.13", old, "factory.talos.dev/installer/376567988ad370138ad8b2698212367b:v1.12.6", "machine.install.image", "v1.12.6"},
		{"v1.13", old, "registry.example.com:5000/installer:1.13.10", "machine.install.image", "v1.13.10"},
		{"v1.14", newer, "ghcr.io/siderolabs/installer:v1.13.9@sha256:0000000000000000000000000000000000000000000000000000000000000000", "installer.image", "v1.13.9"},
		{"v1.13", old, "ghcr.io/siderolabs/installer:v1.13.0-alpha.0", "machine.install.image", "v1.13.0-alpha.0"},
		{"v1.13", old, "registry.example.com:5000/installer:v1.13.0", "", ""},
		{"v1.14", newer, "registry.example.com:5000/installer:1.13.0", "", ""},
		{"v1.13", old, "registry.example.com:5000/installer", "", ""},
		{"v1.13", old, "registry.example.com/installer:latest", "", ""},
		{"v1.13", "{}", "", "", ""},
	} {
		patch, err := LoadPatch(Source{File: "patch.yaml", Data: []byte(strings.ReplaceAll(tt.patch, "%", `"`+tt.image+`"`))}, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cfg, _, err := testBase(t, tt.contract, Worker).Apply([]*Patch{patch})
		if err != nil {
			t.Fatal(err)
		}
		place, version, err := cfg.OtherInstaller("v1.13.0")
		if err != nil || place != tt.place || version != tt.version {
			t.Errorf("%s, %s: %q %q, %v; want %q %q", tt.contract, tt.image, place, version, err, tt.place, tt.version)
		}
	}
}
