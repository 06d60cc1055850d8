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
