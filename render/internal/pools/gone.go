package pools

import (
	"slices"

	"github.com/talosgen/talosgen/render/internal/config"
)

// Gone are the names of what a changed file no longer has.
type Gone struct{ Pools, Nodes []string }

func goneBetween(before, after *config.Config) (gone Gone) {
	for _, p := range before.Pools() {
		if !slices.ContainsFunc(after.Pools(), func(other config.Pool) bool { return other.Name == p.Name }) {
			gone.Pools = append(gone.Pools, p.Name)
		}
	}
	stays := map[string]bool{}
	for _, n := range after.Resolve() {
		stays[n.Name] = true
	}
	for _, n := range before.Resolve() {
		if !stays[n.Name] {
			gone.Nodes = append(gone.Nodes, n.Name)
		}
	}
	return gone
}
