package config

import (
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// Platforms of Talos that the nodes of a provider have, if they say nothing else.
const (
	hetznerPlatform = "hcloud"
	staticPlatform  = "metal"
)

// secureBoot is whether a machine boots with secure boot.
func secureBoot(pool, node schemas.Boot) bool {
	own := node.SecureBoot
	if own == nil {
		own = pool.SecureBoot
	}
	return own != nil && *own
}

// overlay is the overlay of a machine: its own, or that of its pool, unless its schematic
// is given by an id, which holds everything.
func overlay(p pool, node schemas.StaticNode) schemas.Overlay {
	switch {
	case node.Overlay != schemas.Overlay{}:
		return node.Overlay
	case node.Schematic != "":
		return schemas.Overlay{}
	}
	return p.Overlay
}

// checkOverlays makes sure that overlays are given whole.
func (ch poolRules) checkOverlays(p pool) {
	ch.checkOverlay(sub(p.path, "overlay"))
	for i := range p.Nodes {
		ch.checkOverlay(sub(sub(sub(p.path, "nodes"), strconv.Itoa(i)), "overlay"))
	}
}

func (ch poolRules) checkOverlay(at []string) {
	for _, pair := range [][2]string{{"name", "image"}, {"image", "name"}} {
		if ch.has(sub(at, pair[0])...) && !ch.has(sub(at, pair[1])...) {
			ch.fail("for example overlay: {name: rpi_generic, image: siderolabs/sbc-raspberrypi}", sub(at, pair[0]), "%s without %s", display(sub(at, pair[0])), pair[1])
		}
	}
}
