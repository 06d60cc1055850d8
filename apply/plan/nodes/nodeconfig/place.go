package nodeconfig

import (
	"strings"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// place is a part of a configuration: everything at or below some keys of the
// documents of a kind. Items of lists are not told apart.
type place struct {
	// Kind of the document; empty for v1alpha1, * for any but that one.
	kind string
	// Keys, separated by dots; * stands for any one key, ** for any number.
	// Empty: the whole document.
	keys string
}

// covers reports whether a path lies in a place.
func (p place) covers(id ID, path yamltext.Path) bool {
	if p.kind != id.Kind && (p.kind != "*" || id.Kind == "") {
		return false
	}
	if p.keys == "" {
		return true
	}
	return below(strings.Split(p.keys, "."), path)
}

func below(keys []string, path yamltext.Path) bool {
	if len(keys) == 0 {
		return true
	}
	for len(path) > 0 && path[0].Index >= 0 {
		path = path[1:]
	}
	if keys[0] == "**" {
		return below(keys[1:], path) || len(path) > 0 && below(keys, path[1:])
	}
	if len(path) == 0 || keys[0] != "*" && keys[0] != path[0].Key {
		return false
	}
	return below(keys[1:], path[1:])
}
