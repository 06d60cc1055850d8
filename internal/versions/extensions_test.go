package versions

import "testing"

// TestMeantExtension: a name with a letter or two that are wrong is taken for the one
// that was meant, and one that is near to none for one of a newer Talos.
func TestMeantExtension(t *testing.T) {
	for name, want := range map[string]string{
		"siderolabs/qemu-guest-agent":               "",
		"siderolabs/qemu-guest-agnet":               "siderolabs/qemu-guest-agent",
		"siderolabs/iscsi-tool":                     "siderolabs/iscsi-tools",
		"siderolabs/tailscal":                       "siderolabs/tailscale",
		"siderolabs/zfs":                            "",
		"siderolabs/zf":                             "",
		"siderolabs/a":                              "",
		"siderolabs/something-new":                  "",
		"example/qemu-guest-agnet":                  "",
		"siderolabs/nvidia-open-gpu-kernel-modules": "",
	} {
		if got := MeantExtension(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
