package gitops

import (
	"cmp"
	"maps"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// components are the objects that Flux consists of, as they are written: pods of it
// run on control planes too, and it never removes itself. With the definitions of its
// kinds everything would go that it runs. Where its operator installs it, instance is
// how; else it is nil.
func (s Settings) components() (instance manifest.Object, all []manifest.Object) {
	for _, o := range s.Components {
		if o.IsFluxInstance() {
			instance = o
			continue
		}
		all = append(all, annotated(tolerant(o), noSubstitution, noPruning))
	}
	return instance, all
}

// following is a copy of a FluxInstance that follows the tree. What its operator makes
// of that is the source and the Kustomization that talosgen would write without it,
// with the same names: an operator that comes to a running cluster goes on with them.
func (s Settings) following(instance manifest.Object) (manifest.Object, error) {
	source, root := s.source(), s.root()
	out, spec := maps.Clone(instance), maps.Clone(asMap(instance["spec"]))
	spec["sync"] = map[string]any{
		"kind": source.Kind(), "name": Name, "url": cmp.Or(s.OCI.URL, s.Repository), "ref": s.ref(),
		"path": root.Text("spec", "path"), "interval": pollInterval,
	}
	if secret := source.Text("spec", "secretRef", "name"); secret != "" {
		asMap(spec["sync"])["pullSecret"] = secret
	}
	kustomize := maps.Clone(asMap(spec["kustomize"]))
	if kustomize == nil {
		kustomize = map[string]any{}
	}
	var patches []any
	for _, o := range []manifest.Object{source, root} {
		patch, err := exactly(o)
		if err != nil {
			return nil, err
		}
		patches = append(patches, patch)
	}
	own, _ := kustomize["patches"].([]any)
	kustomize["patches"] = append(patches, own...)
	spec["kustomize"] = kustomize
	out["spec"] = spec
	return out, nil
}

// ref is what the source follows, as a FluxInstance has it.
func (s Settings) ref() string {
	if s.OCI.URL != "" {
		return cmp.Or(s.OCI.Tag, s.OCI.SemVer, s.OCI.Digest)
	}
	return "refs/heads/" + s.Branch
}

// exactly is a patch for the object that the operator makes in place of one: what a
// FluxInstance has no field for is in it too, such as the key that secrets are
// decrypted with.
func exactly(o manifest.Object) (map[string]any, error) {
	text, err := manifest.Encode(manifest.Object{"op": "replace", "path": "/spec", "value": o["spec"]})
	patch := "- " + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n  ") + "\n"
	return map[string]any{"target": map[string]any{"kind": o.Kind(), "name": Name}, "patch": patch}, err
}
