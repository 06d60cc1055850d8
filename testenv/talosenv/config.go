//go:build linux

package talosenv

import (
	"fmt"
	"slices"
	"strings"
)

// registries are those whose images the test has.
var registries = []string{"registry.k8s.io", "ghcr.io", "docker.io", "gcr.io", factory}

// Patch is what a machine configuration needs on these nodes, as a strategic
// merge patch of several documents in the vocabulary of the nodes' release of
// Talos: images come from the test, and members find one another by the test's
// own discovery service.
func (c *Cluster) Patch() string {
	discovery := fmt.Sprintf("http://%s:%d/", c.network.discovery(), discoveryPort)
	kubernetes := c.bed.controlPlane != ""

	var documents []string

	if c.bed.release == "1.13" {
		documents = []string{legacyDocument(discovery, kubernetes) + c.bed.installer()}
	} else {
		documents = append(currentDocuments(discovery, kubernetes), c.bed.installer())
	}

	for _, name := range registries {
		documents = append(documents, fmt.Sprintf(`apiVersion: v1alpha1
kind: RegistryMirrorConfig
name: %s
endpoints:
  - url: %s
skipFallback: true
`, name, c.images.url))
	}

	return strings.Join(slices.DeleteFunc(documents, func(d string) bool { return d == "" }), "---\n")
}

// With Kubernetes the patches leave out what would have to be pulled from
// elsewhere, and let the kubelet do without cgroups with controllers and
// without the right to change the kernel's settings.

// legacyDocument is for contracts up to that of Talos 1.13. It ends in the section of the
// machine.
func legacyDocument(discovery string, kubernetes bool) string {
	document := fmt.Sprintf(`cluster:
  discovery:
    enabled: true
    registries:
      kubernetes:
        disabled: true
      service:
        endpoint: %s
`, discovery)

	if kubernetes {
		document += `  network:
    cni:
      name: none
  proxy:
    disabled: true
  coreDNS:
    disabled: true
`
	}

	// Talos insists on it in containers.
	document += `machine:
  features:
    hostDNS:
      forwardKubeDNSToHost: true
`

	if kubernetes {
		document += `  kubelet:
    extraConfig:
      cgroupsPerQOS: false
      enforceNodeAllocatable: [none]
      featureGates:
        KubeletInUserNamespace: true
`
	}

	return document
}

// currentDocuments are for the contract of Talos 1.14.
func currentDocuments(discovery string, kubernetes bool) []string {
	documents := []string{fmt.Sprintf(`apiVersion: v1alpha1
kind: DiscoveryServiceConfig
name: default
endpoint: %s
`, discovery), `apiVersion: v1alpha1
kind: ResolverConfig
hostDNS:
  forwardKubeDNSToHost: true
`}

	if !kubernetes {
		return documents
	}

	return append(documents, `apiVersion: v1alpha1
kind: KubeletConfig
config:
  cgroupsPerQOS: false
  enforceNodeAllocatable: [none]
  featureGates:
    KubeletInUserNamespace: true
`)
}

// ControlPlanePatch is what the configurations of control planes need besides,
// which is nothing unless the nodes run Kubernetes under Talos 1.14.
func (c *Cluster) ControlPlanePatch() string {
	if c.bed.controlPlane == "" || c.bed.release == "1.13" {
		return ""
	}

	return `apiVersion: v1alpha1
kind: KubeFlannelCNIConfig
$patch: delete
---
apiVersion: v1alpha1
kind: KubeProxyConfig
enabled: false
---
apiVersion: v1alpha1
kind: KubeCoreDNSConfig
enabled: false
`
}

// cniConfig satisfies the kubelet that there is a network for pods. No pod of
// these nodes asks for it: those of the control plane use the node's.
const cniConfig = `{"cniVersion": "1.0.0", "name": "none", "plugins": [{"type": "bridge"}]}` + "\n"
