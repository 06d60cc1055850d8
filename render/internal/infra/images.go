package infra

import (
	"fmt"

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
func (r imageResolver) image(serverType string) schemas.InfraImage {
	arch := architecture(serverType)
	return schemas.InfraImage{Selector: r.imageSelector(arch), Architecture: arch}
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

// imageLabels are the labels of the snapshot with the Talos of the cluster.
// Clusters share it, so it does not name one.
func (r imageResolver) imageLabels() map[string]string {
	return map[string]string{
		"os":                 "talos",
		"talos_version":      r.c.Talos.Version,
		"talos_schematic_id": r.Schematic[:min(selectorLength, len(r.Schematic))],
	}
}

func (r imageResolver) imageSelector(arch string) string {
	labels := r.imageLabels()
	if r.imageOptions(arch).Selector == "latest" {
		delete(labels, "talos_version")
	}
	return selector(labels)
}

// goArch are the architectures as the Image Factory names them.
var goArch = map[string]string{x86: "amd64", arm: "arm64"}

// images lists the snapshots that the cluster needs: one for each architecture
// of its servers.
func (r imageResolver) images() {
	needed := map[string]bool{}
	for _, n := range r.c.Resolve() {
		needed[architecture(n.Type)] = true
	}
	for _, p := range r.autoscalerPools() {
		needed[architecture(p.Type)] = true
	}
	for _, arch := range []string{x86, arm} {
		if !needed[arch] {
			continue
		}
		o := r.imageOptions(arch)
		labels := r.imageLabels()
		labels[labelManagedBy] = managedBy
		r.out.Images = append(r.out.Images, schemas.InfraSnapshot{
			Architecture: arch, Selector: r.imageSelector(arch), Build: o.Build, Labels: labels,
			URL:         fmt.Sprintf("https://%s/image/%s/%s/hcloud-%s.raw.xz", r.c.Talos.ImageFactory, r.Schematic, r.c.Talos.Version, goArch[arch]),
			Schematic:   r.SchematicText,
			BuilderType: o.BuilderType, BuilderLocation: o.BuilderLocation,
		})
	}
}
