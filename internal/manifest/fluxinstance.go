package manifest

import "cmp"

// IsFluxInstance reports whether an object is the one of which the Flux Operator makes
// Flux.
func (o Object) IsFluxInstance() bool { return IsFluxInstance(o.ID()) }

// IsFluxInstance is [Object.IsFluxInstance] for an object that is known by its id.
func IsFluxInstance(id ID) bool {
	return id.Group == "fluxcd.controlplane.io" && id.Kind == "FluxInstance"
}

// Synced is the Kustomization that the Flux Operator makes of what a FluxInstance
// follows, as far as that is known; nil if the object is none, or follows nothing.
func (o Object) Synced() Object {
	sync := o.child("spec").child("sync")
	if !o.IsFluxInstance() || len(sync) == 0 {
		return nil
	}
	name := cmp.Or(sync.text("name"), o.Namespace())
	return Object{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": name, "namespace": o.Namespace()},
		"spec": map[string]any{
			"path": sync.text("path"), "sourceRef": map[string]any{"kind": sync.text("kind"), "name": name},
		},
	}
}
