package needs

import (
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// Apply adds to a cluster what the addon needs of its machines, as far as
// cluster.yaml has options for it and says nothing else.
func (n Needs) Apply(c *schemas.Cluster) {
	if c.Talos.Schematic == "" {
		c.Talos.Extensions = union(c.Talos.Extensions, n.Extensions)
	}
	for _, name := range n.KernelModules {
		if !slices.ContainsFunc(c.Talos.KernelModules, func(m schemas.KernelModule) bool { return m.Name == name }) {
			c.Talos.KernelModules = append(slices.Clip(c.Talos.KernelModules), schemas.KernelModule{Name: name})
		}
	}
	set := map[string]string{}
	for name, value := range n.Sysctls {
		set[name] = number(value)
	}
	maps.Copy(set, c.Talos.Sysctls)
	if len(set) > 0 {
		c.Talos.Sysctls = set
	}
	if n.UnsecuredVar && SecuresVar(c.Talos.Version) {
		c.Talos.SecureVar = false
	}
	if n.KeptLayers {
		c.Talos.DiscardUnpackedLayers = false
	}
	n.applyMounts(c)
	n.applyRoles(c)
}

// number is the number of a need that may be greater.
func number(want string) string { return strings.TrimSpace(strings.TrimPrefix(want, atLeast)) }

func (n Needs) applyMounts(c *schemas.Cluster) {
	if SeesAll(c.Talos.ConfigContract) {
		return
	}
	for _, dir := range n.KubeletMounts {
		mounts := c.Kubernetes.Kubelet.ExtraMounts
		if !slices.ContainsFunc(mounts, func(m schemas.KubeletMount) bool { return within(dir, m.Destination) }) {
			c.Kubernetes.Kubelet.ExtraMounts = append(slices.Clip(mounts), schemas.KubeletMount{
				Source: dir, Destination: dir, Type: "bind", Options: []string{"bind", "rshared", "rw"},
			})
		}
	}
}

// applyRoles opens the Talos API for a namespace, and for no other if it was closed.
// Talos gives each namespace all roles: where others have other ones, an operator
// decides.
func (n Needs) applyRoles(c *schemas.Cluster) {
	if len(n.TalosRoles) == 0 || n.Namespace == "" {
		return
	}
	access := &c.Talos.APIAccess
	if access.Enabled == nil || !*access.Enabled {
		on := true
		*access = schemas.APIAccess{Enabled: &on, Roles: n.TalosRoles}
	}
	if !sameTexts(access.Roles, n.TalosRoles) {
		return
	}
	access.Namespaces = union(access.Namespaces, []string{n.Namespace})
}
