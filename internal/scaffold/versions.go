package scaffold

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

const (
	// timeDocuments is the first Talos 1.x that has time servers in a document of
	// their own, and refuses them in two places.
	timeDocuments = 12
	// kubernetesAhead is by how much the Kubernetes 1.x that a Talos 1.x installs by
	// default is ahead of it: both come out together.
	kubernetesAhead = 23
)

// DefaultKubernetes is the Kubernetes that a version of Talos installs by
// default, in its first release.
func DefaultKubernetes(talosVersion string) string {
	return fmt.Sprintf("1.%d.0", minor(talosVersion)+kubernetesAhead)
}

// talos is the version of Talos of the new environment.
func (o Options) talos() string { return cmp.Or(o.TalosVersion, DefaultTalosVersion) }

// minor is the second number of a version.
func minor(version string) int {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(parts[1]) // the form of versions is checked
	return n
}
