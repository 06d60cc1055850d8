package nodeconfig

import (
	"github.com/talosgen/talosgen/internal/secretplaces"
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
	return secretplaces.Place{Kind: p.kind, Keys: p.keys}.Covers(id.Kind, path)
}
