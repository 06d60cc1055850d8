package render

import (
	"strings"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// itemPlaces names each value of a file whose lists hold objects with names,
// such as infrastructure.yaml: servers[prod-worker-1].index. When an object
// comes or goes, the others keep their places.
func itemPlaces(leaves []leaf) []located {
	names := itemNames(leaves)
	out := make([]located, len(leaves))
	for i, l := range leaves {
		out[i] = located{place{path: itemPath(l.Path, names)}, "", l}
	}
	return out
}

// itemNames are the names of items, by their paths, as far as no other item of
// the list has the same.
func itemNames(leaves []leaf) map[string]string {
	names := map[string]string{}
	owner := map[string]string{} // the path of the item with a name in a list
	for _, l := range leaves {
		last := len(l.Path) - 1
		if last < 1 || l.Path[last].Key != "name" || l.Path[last-1].Index < 0 {
			continue
		}
		item := l.Path[:last].String()
		key := l.Path[:last-1].String() + "\x00" + l.Value
		if other, taken := owner[key]; taken {
			delete(names, other)
			continue
		}
		owner[key], names[item] = item, l.Value
	}
	return names
}

func itemPath(path yamltext.Path, names map[string]string) string {
	var b strings.Builder
	from := 0
	for i, e := range path {
		if name := names[path[:i+1].String()]; e.Index >= 0 && name != "" {
			writePath(&b, path[from:i])
			b.WriteString("[" + name + "]")
			from = i + 1
		}
	}
	writePath(&b, path[from:])
	return b.String()
}

// writePath appends a part of a path.
func writePath(b *strings.Builder, part yamltext.Path) {
	if b.Len() > 0 && len(part) > 0 && part[0].Index < 0 {
		b.WriteByte('.')
	}
	b.WriteString(part.String())
}
