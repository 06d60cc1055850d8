package apply

import (
	"cmp"
	"slices"

	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// setSurge lets the tree have, of the nodes that pools have beside their own for a time,
// those of some names, and no others.
func setSurge(e *Environment, names []string) {
	e.Infrastructure = surging(e.Infrastructure, names)
}

// surging is an infrastructure with some of the servers that pools have for a time among
// those that there should be.
func surging(i schemas.Infrastructure, names []string) schemas.Infrastructure {
	all := i.Surge
	servers := slices.DeleteFunc(slices.Clone(i.Servers), func(s schemas.InfraServer) bool {
		if s.Surge {
			all = append(slices.Clip(all), s)
		}
		return s.Surge
	})
	i.Servers, i.Surge = servers, nil
	sorting.By(all, func(a, b schemas.InfraServer) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range all {
		if slices.Contains(names, s.Name) {
			i.Servers = append(i.Servers, s)
		} else {
			i.Surge = append(i.Surge, s)
		}
	}
	return i
}

// allSurge are the servers that pools may have for a time, whether or not they have
// them now.
func allSurge(i schemas.Infrastructure) []schemas.InfraServer { return surging(i, nil).Surge }
