package render

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A configuration in another vocabulary is no change; another value is.
func TestChangedParts(t *testing.T) {
	const old = `version: v1alpha1
machine:
    install:
        disk: /dev/sda
    systemDiskEncryption:
        state:
            provider: luks2
            keys:
                - slot: 0
                  nodeID: {}
cluster:
    network:
        dnsDomain: cluster.local
        podSubnets:
            - 10.0.128.0/17
        serviceSubnets:
            - 10.0.96.0/19
`
	const documents = `apiVersion: v1alpha1
kind: UnattendedInstallConfig
provisioning:
    diskSelector:
        match: disk.dev_path == "%DISK"
---
apiVersion: v1alpha1
kind: VolumeConfig
name: STATE
encryption:
    provider: luks2
    keys:
        - slot: 0
          nodeID: {}
---
apiVersion: v1alpha1
kind: KubeNetworkConfig
dnsDomain: cluster.local
podSubnets:
    - %PODS
serviceSubnets:
    - 10.0.96.0/19
`
	fill := func(disk, pods string) string {
		return strings.NewReplacer("%DISK", disk, "%PODS", pods).Replace(documents)
	}
	for _, tt := range []struct {
		name, before, after string
		want                []int
	}{
		{"nothing", old, old, nil},
		{"another vocabulary", old, fill("/dev/sda", "10.0.128.0/17"), nil},
		{"another disk", old, fill("/dev/nvme0n1", "10.0.128.0/17"), []int{3}},
		{"other pods", fill("/dev/sda", "10.0.128.0/17"), fill("/dev/sda", "10.1.0.0/16"), []int{0}},
		{"no encryption", old, "version: v1alpha1\n", []int{0, 1, 2, 3, 4}},
	} {
		got := slices.Sorted(maps.Keys(changedParts([]byte(tt.before), []byte(tt.after))))
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
