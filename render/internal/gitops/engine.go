package gitops

import (
	"maps"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/schemas"
)

// engine is what runs objects from Git, as far as the layout of a tree depends on it.
type engine struct {
	name      string // as in cluster.yaml; empty: there is none
	namespace string // its own
	// Whether it cannot read what is encrypted, so that apply keeps Secrets.
	blind bool
}

// engineOf is the engine of a cluster.
func engineOf(s Settings) engine {
	switch s.Engine {
	case schemas.Flux:
		return engine{name: s.Engine, namespace: Namespace}
	case schemas.ArgoCD:
		return engine{name: s.Engine, namespace: s.ArgoCD.Namespace, blind: true}
	}
	return engine{}
}

// run is a copy of an object as the engine is to run it.
func (e engine) run(o manifest.Object) manifest.Object {
	if e.name == schemas.ArgoCD {
		return forArgo(o)
	}
	return annotated(o, noSubstitution)
}

// kept is a copy of an object as the engine is to run it, that stays in the cluster
// when Git has it no more.
func (e engine) kept(o manifest.Object) manifest.Object {
	if e.name == schemas.ArgoCD {
		return keptByArgo(forArgo(o))
	}
	return annotated(o, noSubstitution, noPruning)
}

// What Argo CD is told about single objects, by annotations.
const (
	argoSyncOptions    = "argocd.argoproj.io/sync-options"
	argoCompareOptions = "argocd.argoproj.io/compare-options"
	argoWave           = "argocd.argoproj.io/sync-wave"
	fluxForce          = "kustomize.toolkit.fluxcd.io/force"
)

// forArgo is a copy of an object in which Argo CD is told what Flux is told by the
// annotation that lets it make an object anew.
func forArgo(o manifest.Object) manifest.Object {
	annotations := asMap(asMap(o["metadata"])["annotations"])
	if annotations[fluxForce] == nil {
		return o
	}
	out := withAnnotations(o, nil)
	delete(asMap(asMap(out["metadata"])["annotations"]), fluxForce)
	return withOptions(out, argoSyncOptions, "Force=true", "Replace=true")
}

// keptByArgo is a copy of an object that Argo CD neither prunes, nor deletes with its
// Application, and whose absence from Git it does not mind.
func keptByArgo(o manifest.Object) manifest.Object {
	return withOptions(withOptions(o, argoSyncOptions, "Delete=false", "Prune=false"), argoCompareOptions, "IgnoreExtraneous")
}

// withOptions is a copy of an object with options in an annotation, after those that
// it has. One that it has already, with whatever value, stays as its author wants it.
func withOptions(o manifest.Object, annotation string, options ...string) manifest.Object {
	text, _ := asMap(asMap(o["metadata"])["annotations"])[annotation].(string)
	var all []string
	has := map[string]bool{}
	for _, option := range strings.Split(text, ",") {
		if option = strings.TrimSpace(option); option != "" {
			name, _, _ := strings.Cut(option, "=")
			has[name], all = true, append(all, option)
		}
	}
	for _, option := range options {
		if name, _, _ := strings.Cut(option, "="); !has[name] {
			all = append(all, option)
		}
	}
	return withAnnotations(o, map[string]string{annotation: strings.Join(all, ",")})
}

// withAnnotations is a copy of an object with annotations.
func withAnnotations(o manifest.Object, annotations map[string]string) manifest.Object {
	out := maps.Clone(o)
	metadata := maps.Clone(asMap(o["metadata"]))
	if metadata == nil {
		metadata = map[string]any{}
	}
	all := maps.Clone(asMap(metadata["annotations"]))
	if all == nil {
		all = map[string]any{}
	}
	for name, value := range annotations {
		all[name] = value
	}
	metadata["annotations"] = all
	out["metadata"] = metadata
	return out
}
