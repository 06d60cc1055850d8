package image

import (
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// builderName is the name of the server that makes an image: the same for every
// run, so that Hetzner lets only one of them have it.
func builderName(want schemas.InfraSnapshot) string {
	parts := []string{"talosgen-image"}
	for _, label := range []string{"talos_version", "talos_schematic_id"} {
		if value := want.Labels[label]; value != "" {
			parts = append(parts, value[:min(len(value), 16)])
		}
	}
	name := strings.Join(append(parts, Arch(want.Architecture)), "-")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
