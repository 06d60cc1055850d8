package legacy

import (
	"slices"
	"strings"
)

// MovedTo names what took over a legacy field, such as "KubeletConfig.extraArgs"
// for machine.kubelet.extraArgs: for a field below one that moved, that one's; for
// a section, the kinds of all documents that took over parts of it, sorted.
// Nothing is returned for what stays, and for what is no field.
func MovedTo(path string) []string {
	t := homes()
	for at := path; at != ""; at = parentOf(at) {
		if home := t.rows[at]; home != nil && home.Kind != "" {
			return []string{home.Target()}
		}
	}
	var kinds []string
	for below, home := range t.rows {
		if home.Kind != "" && strings.HasPrefix(below, path+".") {
			kinds = append(kinds, home.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
