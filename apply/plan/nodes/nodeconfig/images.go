package nodeconfig

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// The contracts that a configuration can be told by: documents for Kubernetes came with
// Talos 1.14, and all before it have sections of the main document.
const (
	ContractDocuments = "v1.14"
	ContractSections  = "v1.13"
)

// Contract is the contract of the configuration: [ContractDocuments] or
// [ContractSections], which stands for all older ones.
func (c *Config) Contract() string {
	if c.documents() {
		return ContractDocuments
	}
	return ContractSections
}

// Images are the images that the configuration names for programs of Kubernetes, by
// program, such as kubelet or kube-apiserver.
func (c *Config) Images() map[string]string {
	images := map[string]string{}
	for _, k := range components {
		if k.program == "" || images[k.program] != "" {
			continue
		}
		if n := c.value(k.place); n != nil && n.Kind == yaml.ScalarNode && n.Value != "" {
			images[k.program] = n.Value
		}
	}
	return images
}

// Disabled reports whether the configuration says that a program does not run.
func (c *Config) Disabled(program string) bool {
	for _, k := range components {
		if k.program != program {
			continue
		}
		key, is := "enabled", "false"
		if k.place.kind == "" {
			key, is = "disabled", "true"
		}
		if n := c.value(place{k.place.kind, strings.TrimSuffix(k.place.keys, "image") + key}); n != nil && n.Value == is {
			return true
		}
	}
	return false
}

// WithImage returns the configuration with another image of a program, and whether that
// is a change. Nothing else changes. An image that is not named yet is set in the
// document of the program, or in its section if there is no such document.
func (c *Config) WithImage(program, image string) (send secret.String, changed bool, err error) {
	e, found := c.imageEdit(program, image)
	switch {
	case !found:
		return secret.String{}, false, c.problem("it has no place for the image of %s", program)
	case c.Images()[program] == image:
		return secret.String{}, false, nil
	}
	text, err := edited(c, []edit{e})
	return secret.New(string(text)), true, err
}

// imageEdit sets the image of a program.
func (c *Config) imageEdit(program, image string) (e edit, found bool) {
	for _, k := range components {
		if d := c.of(k.place); d != nil && k.program == program {
			e = edit{id: d.id, node: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: image}}
			for _, key := range strings.Split(k.place.keys, ".") {
				e.path = append(e.path, yamltext.Key(key))
			}
			return e, true
		}
	}
	return e, false
}

// Moved is Git's configuration for a node that has one of another contract: all of it, but
// for the images of programs, which stay those of the node.
func Moved(active, desired *Config) (secret.String, error) {
	var edits []edit
	for program, image := range active.Images() {
		if e, found := desired.imageEdit(program, image); found && desired.Images()[program] != image {
			edits = append(edits, e)
		}
	}
	text, err := edited(desired, edits)
	return secret.New(string(text)), err
}

// of is the document that a place is in; nil if there is none.
func (c *Config) of(p place) *document {
	if p.kind != "" {
		return c.kind(p.kind)
	}
	return c.find(ID{})
}

// value is what stands at a place of one key after the other; nil if nothing does.
func (c *Config) value(p place) *yaml.Node {
	if d := c.of(p); d != nil {
		return at(d.root, strings.Split(p.keys, ".")...)
	}
	return nil
}

// variants are the suffixes of tags of the kubelet's images, which have the same
// version.
var variants = []string{"-fat", "-slim"}

// cutVariant splits a tag into the version and the variant of the image.
func cutVariant(tag string) (version, variant string) {
	for _, v := range variants {
		if version, found := strings.CutSuffix(tag, v); found {
			return version, v
		}
	}
	return tag, ""
}

// ImageVersion is the version that the tag of an image names; empty if it has none.
func ImageVersion(image string) string {
	_, tag, tagged := cutTag(image)
	if !tagged {
		return ""
	}
	version, _ := cutVariant(tag)
	return version
}

// ImageAt is an image in another version: from the same repository, and of the same
// variant. A digest is that of one version only. Of an image without a tag nobody knows
// what the tag of a version is.
func ImageAt(image, version string) (at string, known bool) {
	repository, tag, tagged := cutTag(image)
	if !tagged {
		return "", false
	}
	own, variant := cutVariant(tag)
	number := strings.TrimPrefix(version, "v")
	if strings.TrimPrefix(own, "v") == number {
		return image, true
	}
	if strings.HasPrefix(own, "v") {
		number = "v" + number
	}
	return repository + ":" + number + variant, true
}
