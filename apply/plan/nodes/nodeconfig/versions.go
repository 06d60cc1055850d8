package nodeconfig

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// MachineType is the role of the node in Talos' words: controlplane or worker.
func (c *Config) MachineType() string {
	d := c.find(ID{})
	if d == nil {
		return ""
	}
	if n := at(d.root, "machine", "type"); n != nil {
		return n.Value
	}
	return ""
}

// Kubernetes is the version of Kubernetes that the configuration has, by the
// oldest of the images of its components; empty if none of them has a tag that
// is a version.
func (c *Config) Kubernetes() string { return c.oldest(false) }

// Talos is the version of Talos that the configuration installs, by the tag of the
// installer's image; empty if there is none that is a version.
func (c *Config) Talos() string { return c.oldest(true) }

// Installer is the image of Talos' installer; empty if there is none.
func (c *Config) Installer() string {
	for _, k := range components {
		if n := c.value(k.place); k.talos && n != nil && n.Value != "" {
			return n.Value
		}
	}
	return ""
}

// oldest is the oldest version of the images of Talos, or of Kubernetes.
func (c *Config) oldest(talos bool) (version string) {
	for _, k := range components {
		if k.talos != talos {
			continue
		}
		for _, d := range c.docs {
			if d.id.Kind != k.place.kind {
				continue
			}
			if n := at(d.root, strings.Split(k.place.keys, ".")...); n != nil {
				if _, tag, ok := cutTag(n.Value); ok && slices.Contains([]byte("v0123456789"), tag[0]) {
					tag, _ = cutVariant(tag)
					version = upgradepath.Older(version, tag)
				}
			}
		}
	}
	return version
}

// versionOf says of which program two images in a place are two versions, and of
// nothing else: talos, kubernetes, or empty.
func versionOf(p pair) string {
	if p.active == nil || p.desired == nil {
		return ""
	}
	from, _, tagged := cutTag(p.active.node.Value)
	to, _, both := cutTag(p.desired.node.Value)
	if !tagged || !both || from != to {
		return ""
	}
	return componentAt(p)
}

// componentAt is the program whose image is in a place: talos, kubernetes, or empty.
func componentAt(p pair) string {
	l := p.where()
	for _, k := range components {
		if k.place.covers(l.id, l.path) {
			if k.talos {
				return Talos
			}
			return Kubernetes
		}
	}
	return ""
}

// Programs that [Change.Version] names.
const (
	Talos      = "talos"
	Kubernetes = "kubernetes"
)
