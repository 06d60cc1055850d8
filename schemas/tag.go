package schemas

import (
	"reflect"

	"github.com/talosgen/talosgen/internal/versions"
)

// Tag returns a tag of an option, such as its default or its example, and whether
// it has that tag. Versions in it are those of [versions.Fill].
func Tag(tags reflect.StructTag, name string) (text string, has bool) {
	text, has = tags.Lookup(name)
	return versions.Fill(text), has
}
