package upgrade

import (
	"regexp"
	"strings"
)

// Installer is what the name of an installer's image says of it.
type Installer struct {
	// Repository is the name without its tag and digest.
	Repository string
	// The id of the schematic, and the platform, such as hcloud; empty if the name
	// does not say.
	Schematic, Platform string
	SecureBoot          bool
}

// factory matches the images of an Image Factory: its own, and those of a mirror.
var factory = regexp.MustCompile(`/(?:([a-z0-9-]+)-)?installer(-secureboot)?/([0-9a-f]{64})$`)

// ParseInstaller reads the name of an image, such as
// factory.talos.dev/hcloud-installer/<schematic>:v1.14.1.
func ParseInstaller(image string) Installer {
	name, _, _ := strings.Cut(image, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	found := Installer{Repository: name}
	if m := factory.FindStringSubmatch(name); m != nil {
		found.Platform, found.SecureBoot, found.Schematic = m[1], m[2] != "", m[3]
	}
	return found
}
