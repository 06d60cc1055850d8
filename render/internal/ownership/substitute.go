package ownership

import (
	"maps"
	"regexp"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// reference is a variable in an object that Flux substitutes after a build, with what
// stands there if the variable has no value.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:?[-=][^}]*)?\}`)

// substituted is an object with the name and the namespace that it has once Flux has put
// in the values of a Kustomization (spec.postBuild), as far as they stand there.
func substituted(o manifest.Object, postBuild map[string]any) manifest.Object {
	if !unknownName(o) {
		return o
	}
	values := manifest.Section(postBuild, "substitute")
	others := len(manifest.Maps(postBuild["substituteFrom"])) > 0
	metadata := maps.Clone(manifest.Section(o, "metadata"))
	for _, key := range []string{"name", "namespace"} {
		text, is := metadata[key].(string)
		if !is {
			continue
		}
		metadata[key] = reference.ReplaceAllStringFunc(text, func(found string) string {
			parts := reference.FindStringSubmatch(found)
			value, known := values[parts[1]].(string)
			if !known && (others || parts[2] == "") {
				return found // a ConfigMap or a Secret may have it
			}
			if value == "" {
				value = strings.TrimLeft(parts[2], ":-=")
			}
			return value
		})
	}
	return o.WithMetadata(metadata)
}

// unknownName tells whether the name of an object is not known before Flux applies it.
func unknownName(o manifest.Object) bool {
	return strings.Contains(o.Name()+o.Namespace(), "${")
}
