package ownership

import (
	"slices"

	"github.com/talosgen/talosgen/internal/manifest"
)

// BringsPodNetwork tells whether a network of pods can be among what Talos itself
// applies: Flannel, manifests from elsewhere, or inline ones that run something on
// every node, or a Job that installs it.
func BringsPodNetwork(m Machine) bool {
	b := builtin(m.Documents)
	return b.flannel || len(b.external) > 0 || slices.ContainsFunc(b.inline, func(in named) bool {
		objects, err := m.Parse(m.File, []byte(in.text))
		return err != nil || slices.ContainsFunc(objects, func(o manifest.Object) bool {
			return o.Kind() == "DaemonSet" || o.Kind() == "Job"
		})
	})
}
