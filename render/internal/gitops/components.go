package gitops

import (
	"maps"

	"github.com/talosgen/talosgen/internal/manifest"
)

// controlPlaneTaint keeps pods off control planes.
const controlPlaneTaint = "node-role.kubernetes.io/control-plane"

// tolerant is a copy of a workload whose pods run on control planes as well:
// a cluster of nothing else has to have the engine too. Upstream's tolerate nothing.
func tolerant(o manifest.Object) manifest.Object {
	if o.Kind() != "Deployment" && o.Kind() != "StatefulSet" {
		return o
	}
	out := maps.Clone(o)
	spec := maps.Clone(asMap(o["spec"]))
	template := maps.Clone(asMap(spec["template"]))
	pod := maps.Clone(asMap(template["spec"]))
	if pod == nil {
		return o
	}
	tolerations, _ := pod["tolerations"].([]any)
	pod["tolerations"] = append(tolerations[:len(tolerations):len(tolerations)],
		map[string]any{"key": controlPlaneTaint, "operator": "Exists", "effect": "NoSchedule"})
	template["spec"] = pod
	spec["template"] = template
	out["spec"] = spec
	return out
}
