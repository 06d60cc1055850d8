package kubetree

import (
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// fluxGroups is how the groups of Flux' kinds end.
const fluxGroups = ".toolkit.fluxcd.io"

// ofFlux reports whether an object is of a kind that comes with Flux, where its
// operator installs that: Flux makes it as soon as there is Flux.
func (r *reader) ofFlux(o manifest.Object) bool {
	return r.operated && strings.HasSuffix(o.ID().Group, fluxGroups)
}
