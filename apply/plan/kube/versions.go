package kube

import (
	"fmt"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// Versions are those of Talos and Kubernetes that machines run, such as v1.14.1;
// empty: not known.
type Versions struct{ Talos, Kubernetes string }

// skew says why servers with these versions must not be made beside control planes
// with others; empty if they may. A kubelet must not be newer than the API, and
// talosgen gives no new node a Talos that its control planes have not got.
func (v Versions) skew(running Versions) string {
	const wait = " before the control planes do: it waits for the upgrade (docs/how-to/upgrade.md)"
	switch {
	case upgradepath.Newer(v.Kubernetes, running.Kubernetes):
		return fmt.Sprintf("new servers would run Kubernetes %s%s", v.Kubernetes, wait)
	case upgradepath.Newer(v.Talos, running.Talos):
		return fmt.Sprintf("new servers would run Talos %s%s", v.Talos, wait)
	}
	return ""
}
