package model

import (
	"strings"

	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/schemas"
)

// schematics are those of images, each computed once: a cluster has a few, and a
// thousand nodes of them.
type schematics map[string]machine.Schematic

// of returns the schematic of an image. Of one that is given by its id, only that is
// known.
func (s schematics) of(i schemas.NodeImage, overlay schemas.Overlay) machine.Schematic {
	if i.Schematic != "" {
		return machine.Schematic{ID: i.Schematic}
	}
	key := strings.Join(i.Extensions, "\n") + "\n\n" + strings.Join(i.ExtraKernelArgs, "\n") + "\n\n" + overlay.Image + "\n" + overlay.Name
	known, ok := s[key]
	if !ok {
		known = machine.NewSchematic(i.Extensions, i.ExtraKernelArgs, machine.Overlay{Image: overlay.Image, Name: overlay.Name})
		s[key] = known
	}
	return known
}

// text returns the id of the schematic of an image, and the schematic itself.
func (s schematics) text(i schemas.NodeImage) (id, text string) {
	all := s.of(i, schemas.Overlay{})
	return all.ID, all.Text
}
