//go:build linux

package talosenv

import "fmt"

// Patch is what a machine configuration needs on these nodes, as a strategic
// merge patch of several documents in the vocabulary of Talos 1.13: images
// come from the test, and members find one another by the test's own discovery
// service.
func (c *Cluster) Patch() string {
	patch := fmt.Sprintf(`cluster:
  discovery:
    enabled: true
    registries:
      kubernetes:
        disabled: true
      service:
        endpoint: http://%s:%d/
`, c.network.discovery(), discoveryPort)

	if c.bed.controlPlane != "" {
		patch += kubernetesPatch
	}

	for _, registry := range []string{"registry.k8s.io", "ghcr.io", "docker.io", "gcr.io"} {
		patch += fmt.Sprintf(`---
apiVersion: v1alpha1
kind: RegistryMirrorConfig
name: %s
endpoints:
  - url: %s
skipFallback: true
`, registry, c.images.url)
	}

	return patch
}

// kubernetesPatch leaves out what would have to be pulled from elsewhere, and
// lets the kubelet do without cgroups with controllers and without the right
// to change the kernel's settings.
// It goes on where the cluster section has begun.
const kubernetesPatch = `  network:
    cni:
      name: none
  proxy:
    disabled: true
  coreDNS:
    disabled: true
machine:
  kubelet:
    extraConfig:
      cgroupsPerQOS: false
      enforceNodeAllocatable: [none]
      featureGates:
        KubeletInUserNamespace: true
`

// cniConfig satisfies the kubelet that there is a network for pods. No pod of
// these nodes asks for it: those of the control plane use the node's.
const cniConfig = `{"cniVersion": "1.0.0", "name": "none", "plugins": [{"type": "bridge"}]}` + "\n"
