package config

import (
	"strconv"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/schemas"
)

const (
	// maxVolumes is how many volumes of Hetzner Cloud a server can have.
	maxVolumes = 16
	// maxVolumeName is how long the name of one may be.
	maxVolumeName = 64
	// userVolumes is the first contract whose configurations have user volumes.
	userVolumes = 10
)

// VolumeName is the name in Hetzner Cloud of a volume of the node.
func (n Node) VolumeName(v schemas.NodeVolume) string { return n.Name + "-" + v.Name }

// checkVolumes checks the volumes that nodes of a pool have for themselves. Talos finds
// each by its size, for its id is not known when this is rendered.
func (ch hetznerRules) checkVolumes(p pool) {
	at := sub(p.path, "volumes")
	if len(p.Volumes) == 0 {
		return
	}
	ch.unique(at, "name", namesOf(p.Volumes, func(v schemas.NodeVolume) string { return v.Name }))
	sizes := map[int]string{}
	for i, v := range p.Volumes {
		if other, twice := sizes[v.Size]; twice && v.Size != 0 {
			ch.fail("Talos finds a volume by its size: make one of them a GB larger", sub(sub(at, strconv.Itoa(i)), "size"),
				"the volumes %s and %s of a node are of the same size, %d GB", other, v.Name, v.Size)
		}
		sizes[v.Size] = v.Name
	}
	if n := len(p.Volumes); n > maxVolumes {
		ch.fail("volumes of pods count too", at, "%d volumes for each node; a server can have %d", n, maxVolumes)
	}
	if p.maxSurge > 0 {
		ch.fail("remove maxSurge, or have the data elsewhere", sub(p.path, "maxSurge"),
			"maxSurge beside volumes: the node that stands in would be without their data")
	}
	if c := ch.Talos.ConfigContract; c != "" && versions.Minor(c) < userVolumes {
		ch.fail("upgrade Talos first", at, "volumes need the user volumes of Talos 1.%d, and configContract is %s", userVolumes, c)
	}
}

// checkVolumeNames checks the names that volumes have in Hetzner Cloud.
func (ch hetznerRules) checkVolumeNames() {
	first := map[string]string{}
	for _, n := range ch.nodes {
		for i, v := range n.Volumes {
			name, at := n.VolumeName(v), sub(sub(sub(n.paths[0], "volumes"), strconv.Itoa(i)), "name")
			if !ch.has(at...) || v.Name == "" {
				continue // reported already
			}
			if len(name) > maxVolumeName {
				ch.fail("give it or the pool a shorter name", at, "the name %s has %d characters; volumes have %d at most", name, len(name), maxVolumeName)
				break
			}
			if other, twice := first[name]; twice && other != n.Name {
				ch.fail("give one of them another name", at, "the nodes %s and %s would both have a volume named %s", other, n.Name, name)
			}
			first[name] = n.Name
		}
	}
}
