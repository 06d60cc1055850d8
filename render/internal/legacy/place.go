package legacy

import "strings"

// Place is where a version contract keeps a setting.
type Place struct {
	// Kind and Name are the document; no Kind: the v1alpha1 document. No Name: there
	// is one of the kind, or one for each item, which names it.
	Kind, Name string
	// Field is the path in it: "extraArgs", "machine.kubelet.extraArgs". It may be
	// empty for what is the document as a whole.
	Field string
}

// PlaceOf returns where the contract of Talos 1.minor keeps what a legacy field holds.
// The shape of the value may be another one there.
func PlaceOf(path string, minor int) Place {
	rows := homes().rows
	for at := path; at != ""; at = parentOf(at) {
		home := rows[at]
		switch {
		case home == nil:
		case home.Kind == "" || minor < home.since():
			return Place{Field: path}
		default:
			below := strings.TrimPrefix(path[len(at):], ".")
			return Place{home.Kind, home.Name, strings.Trim(home.Field+"."+below, ".")}
		}
	}
	return Place{Field: path}
}

// since is the minor version of the contract from which on the document is used.
func (h *Home) since() int {
	if h.Since == 0 {
		return newest
	}
	return h.Since
}

// newest is the contract that moved nearly everything: that of Talos 1.14.
const newest = 14
