package machine

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// installerPlaces are where contracts keep the image that installs Talos, by
// document.
var installerPlaces = []struct {
	document ID
	path     yamltext.Path
}{
	{MainID, yamltext.Path{yamltext.Key("machine"), yamltext.Key("install"), yamltext.Key("image")}},
	{kind("UnattendedInstallConfig"), yamltext.Path{yamltext.Key("installer"), yamltext.Key("image")}},
}

// versionTag matches the tag of an image that is a version. Others, such as "latest",
// say nothing of it.
var versionTag = regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+.*)$`)

// OtherInstaller returns the path of the installer's image and the version in
// its tag, if that is another one than a version of Talos such as "v1.14.1".
// Nothing is returned of an image that is secret, or whose tag is no version.
func (c *Config) OtherInstaller(talosVersion string) (place, version string, err error) {
	for _, p := range installerPlaces {
		doc := c.Document(p.document)
		if doc == nil {
			continue
		}
		leaves, err := doc.Leaves()
		if err != nil {
			return "", "", err
		}
		isSecret, err := c.Secret(doc)
		if err != nil {
			return "", "", err
		}
		for i, l := range leaves {
			tag := VersionTag(l.Value)
			if slices.Equal(l.Path, p.path) && !isSecret[i] && tag != "" && tag != strings.TrimPrefix(talosVersion, "v") {
				return p.path.String(), "v" + tag, nil
			}
		}
	}
	return "", "", nil
}

// VersionTag is the version that an image's tag says, without its v; empty if it
// says none.
func VersionTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	if m := versionTag.FindStringSubmatch(tag); m != nil {
		return m[1]
	}
	return ""
}
