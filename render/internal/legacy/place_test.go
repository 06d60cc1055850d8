package legacy

import (
	"testing"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
)

func TestPlaceOf(t *testing.T) {
	for _, tt := range []struct {
		path  string
		minor int
		want  Place
	}{
		{"machine.kubelet.extraArgs", 13, Place{Field: "machine.kubelet.extraArgs"}},
		{"machine.kubelet.extraArgs", 14, Place{Kind: "KubeletConfig", Field: "extraArgs"}},
		{"machine.kubelet.extraArgs.v", 15, Place{Kind: "KubeletConfig", Field: "extraArgs.v"}},
		{"machine.kubelet.extraMounts", 14, Place{Field: "machine.kubelet.extraMounts"}},
		{"machine.systemDiskEncryption.state", 10, Place{Field: "machine.systemDiskEncryption.state"}},
		{"machine.systemDiskEncryption.state.keys", 11, Place{"VolumeConfig", "STATE", "encryption.keys"}},
		{"machine.network.hostname", 11, Place{Field: "machine.network.hostname"}},
		{"machine.network.hostname", 12, Place{Kind: "HostnameConfig", Field: "hostname"}},
		{"cluster.inlineManifests", 14, Place{Kind: "KubeInlineManifestConfig"}},
		{"cluster.etcd.extraArgs", 14, Place{Field: "cluster.etcd.extraArgs"}},
		{"cluster.nothing", 14, Place{Field: "cluster.nothing"}},
	} {
		if got := PlaceOf(tt.path, tt.minor); got != tt.want {
			t.Errorf("%s at 1.%d: got %+v, want %+v", tt.path, tt.minor, got, tt.want)
		}
	}
}

// TestSince compares the contracts of documents that came before 1.14 with those from
// which on Talos' own library generates them.
func TestSince(t *testing.T) {
	for path, generates := range map[string]func(*talosconfig.VersionContract) bool{
		"machine.systemDiskEncryption.state":     (*talosconfig.VersionContract).VolumeConfigEncryptionSupported,
		"machine.systemDiskEncryption.ephemeral": (*talosconfig.VersionContract).VolumeConfigEncryptionSupported,
		"machine.network.hostname":               (*talosconfig.VersionContract).MultidocNetworkConfigSupported,
		"machine.network.interfaces":             (*talosconfig.VersionContract).MultidocNetworkConfigSupported,
		"machine.network.nameservers":            (*talosconfig.VersionContract).MultidocNetworkConfigSupported,
		"machine.network.kubespan.enabled":       (*talosconfig.VersionContract).KubeSpanMultidocConfig,
		"machine.features.hostDNS.enabled":       (*talosconfig.VersionContract).HostDNSMultidocConfig,
		"machine.sysctls":                        (*talosconfig.VersionContract).MultidocSysctlConfigSupported,
		"machine.kernel.modules":                 (*talosconfig.VersionContract).MultidocKernelModuleConfigSupported,
		"machine.kubelet.extraArgs":              (*talosconfig.VersionContract).MultidocKubernetesConfigSupported,
		"cluster.discovery":                      (*talosconfig.VersionContract).DiscoveryServiceMultidocConfig,
	} {
		for minor := 9; minor <= 14; minor++ {
			contract := &talosconfig.VersionContract{Major: 1, Minor: minor}
			if moved := PlaceOf(path, minor).Kind != ""; moved != generates(contract) {
				t.Errorf("%s at 1.%d: moved %v, Talos says %v", path, minor, moved, generates(contract))
			}
		}
	}
}
