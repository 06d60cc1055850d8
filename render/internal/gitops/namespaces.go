package gitops

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Namespaces that exist in every cluster.
var builtinNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// IsBuiltinNamespace tells whether every cluster has a namespace.
func IsBuiltinNamespace(name string) bool { return slices.Contains(builtinNamespaces, name) }

// podSecurityLabels are what a level of the pod security standards is set by:
// enforced, warned of and logged.
var podSecurityLabels = []string{
	"pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/warn",
}

// addNamespaces gives each namespace that addons need to the first of them, in
// order, unless one of them brings it along. Charts do not. That of the engine comes
// with the engine.
func addNamespaces(addons []Addon, engine string) error {
	var problems diag.List
	level := map[string]string{} // by namespace
	by := map[string]string{}    // the addon that asked for the level
	for _, a := range addons {
		if a.Namespace == "" || a.PodSecurity == "" {
			continue
		}
		if other := level[a.Namespace]; other != "" && other != a.PodSecurity {
			problems.Add(diag.On("namespace "+a.Namespace, "is %s for the addon %s, and %s for %s", other, by[a.Namespace], a.PodSecurity, a.Name).
				WithHint("give both the same podSecurity, or one of them a namespace of its own"))
			continue
		}
		level[a.Namespace], by[a.Namespace] = a.PodSecurity, a.Name
	}
	there := map[string]bool{}
	for i := range addons {
		for j, o := range addons[i].Objects {
			if isNamespace(o) {
				there[o.Name()] = true
				addons[i].Objects[j] = withLevel(o, level[o.Name()])
			}
		}
	}
	for i, a := range addons {
		builtin := IsBuiltinNamespace(a.Namespace) || a.Namespace == engine
		if a.Namespace == "" || builtin || there[a.Namespace] {
			continue
		}
		there[a.Namespace] = true
		addons[i].Objects = append(slices.Clip(a.Objects), newNamespace(a.Namespace, level[a.Namespace]))
	}
	return problems.Err()
}

func newNamespace(name, level string) manifest.Object {
	return withLevel(manifest.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}, level)
}

// withLevel is a copy of a namespace with the labels of a level; those that it
// has stay.
func withLevel(o manifest.Object, level string) manifest.Object {
	if level == "" {
		return o
	}
	metadata := maps.Clone(asMap(o["metadata"]))
	labels := maps.Clone(asMap(metadata["labels"]))
	if labels == nil {
		labels = map[string]any{}
	}
	for _, label := range podSecurityLabels {
		if _, set := labels[label]; !set {
			labels[label] = level
		}
	}
	metadata["labels"] = labels
	out := maps.Clone(o)
	out["metadata"] = metadata
	return out
}
