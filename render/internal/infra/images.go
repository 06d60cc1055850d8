package infra

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

// Architectures, as Hetzner Cloud names them.
const (
	x86 = "x86"
	arm = "arm"
)

// selectorLength is how much of a schematic id a label can hold, as others
// write it: labels have 63 characters at most.
const selectorLength = 32

// imageResolver resolves the images that servers are made from.
type imageResolver struct{ *resolver }

// image selects the snapshot that a server of a type is made from.
func (r imageResolver) image(serverType string, image schemas.NodeImage) schemas.InfraImage {
	arch := architecture(serverType)
	id, _ := r.Schematic(image)
	return schemas.InfraImage{Selector: r.imageSelector(arch, id), Architecture: arch}
}

func architecture(serverType string) string {
	if config.Arm(serverType) {
		return arm
	}
	return x86
}

func (r imageResolver) imageOptions(arch string) schemas.Image {
	if arch == arm {
		return r.c.Hetzner.Images.ARM64
	}
	return r.c.Hetzner.Images.AMD64
}

// imageLabels are the labels of the snapshot with the Talos of the cluster and a
// schematic. Clusters share it, so it does not name one.
func (r imageResolver) imageLabels(schematic string) map[string]string {
	return map[string]string{
		"os":                 "talos",
		"talos_version":      r.c.Talos.Version,
		"talos_schematic_id": schematic[:min(selectorLength, len(schematic))],
	}
}

func (r imageResolver) imageSelector(arch, schematic string) string {
	labels := r.imageLabels(schematic)
	if r.imageOptions(arch).Selector == "latest" {
		delete(labels, "talos_version")
	}
	return selector(labels)
}

// goArch are the architectures as the Image Factory names them.
var goArch = map[string]string{x86: "amd64", arm: "arm64"}

// images lists the snapshots that the cluster needs: one for each architecture
// of its servers, and for each schematic of these.
func (r imageResolver) images() {
	for _, arch := range []string{x86, arm} {
		var made []string
		for _, n := range append(slices.Clip(r.c.Resolve()), r.c.AutoscaledNodes()...) {
			if n.Dedicated {
				continue // it boots no snapshot
			}
			id, text := r.Schematic(n.Image())
			if architecture(n.Type) == arch && !slices.Contains(made, id) {
				made = append(made, id)
				r.snapshot(arch, id, text)
			}
		}
	}
}

// snapshot is the one for an architecture with a schematic.
func (r imageResolver) snapshot(arch, id, text string) {
	o, labels := r.imageOptions(arch), r.imageLabels(id)
	labels[labelManagedBy] = managedBy
	r.out.Images = append(r.out.Images, schemas.InfraSnapshot{
		Architecture: arch, Selector: r.imageSelector(arch, id), Build: o.Build, Labels: labels,
		URL:         fmt.Sprintf("https://%s/image/%s/%s/hcloud-%s.raw.xz", r.c.Talos.ImageFactory, id, r.c.Talos.Version, goArch[arch]),
		Schematic:   text,
		BuilderType: o.BuilderType, BuilderLocation: o.BuilderLocation,
	})
}
