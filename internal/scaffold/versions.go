package scaffold

import (
	"cmp"

	"github.com/talosgen/talosgen/internal/versions"
)

// timeDocuments is the first Talos 1.x that has time servers in a document of
// their own, and refuses them in two places.
const timeDocuments = 12

// talos is the version of Talos of the new environment.
func (o Options) talos() string { return cmp.Or(o.TalosVersion, versions.Newest().Talos) }

// kubernetes is the version of Kubernetes of the new environment.
func (o Options) kubernetes() string {
	release, _ := versions.Of(o.talos())
	return cmp.Or(o.KubernetesVersion, release.Start())
}
