package apply

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/followed"
	"github.com/talosgen/talosgen/internal/manifest"
)

// The file of a tree that tells Flux what to watch, or Argo CD.
const (
	fluxFile = "flux/manifests.yaml"
	argoFile = "bootstrap/argocd/manifests.yaml"
)

// gitRepository is the kind of a repository that Flux follows.
const gitRepository = "GitRepository"

// engineOf is the name of what runs the addons from Git, for people; empty if nothing
// does.
func engineOf(e *Environment) string {
	switch {
	case e.files[fluxFile] != nil:
		return kubeplan.EngineFlux.String()
	case e.files[argoFile] != nil:
		return kubeplan.EngineArgoCD.String()
	}
	return ""
}

// Follows returns the branch that Flux or Argo CD follows, where it looks for the tree
// there, and which of them does; empty if the tree has nothing for them.
func (e *Environment) Follows() (branch, place, engine string) {
	return branchOf(e), placeOf(e), engineOf(e)
}

// placeOf is where the engine looks for the tree.
func placeOf(e *Environment) string {
	text, there := e.files[fluxFile]
	if !there {
		text = e.files[argoFile]
	}
	objects, err := manifest.Parse(e.path(fluxFile), text)
	if err != nil {
		return "" // whoever reads its objects reports it
	}
	return followed.Of(e.path(""), objects).Path()
}

// branchOf is the branch that is followed.
func branchOf(e *Environment) string {
	text, there := e.files[fluxFile]
	if !there {
		text = e.files[argoFile]
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var o struct {
			Kind string `yaml:"kind"`
			Spec struct {
				Ref struct {
					Branch string `yaml:"branch"`
				} `yaml:"ref"`
				Source struct {
					TargetRevision string `yaml:"targetRevision"`
				} `yaml:"source"`
				Sync struct {
					Kind string `yaml:"kind"`
					Ref  string `yaml:"ref"`
				} `yaml:"sync"`
			} `yaml:"spec"`
		}
		if dec.Decode(&o) != nil {
			return "" // no more of them; the seal says that a render wrote the file
		}
		switch {
		case o.Kind == gitRepository:
			return o.Spec.Ref.Branch
		case o.Kind == "Application":
			return o.Spec.Source.TargetRevision
		case o.Spec.Sync.Kind == gitRepository: // of a FluxInstance
			return strings.TrimPrefix(o.Spec.Sync.Ref, "refs/heads/")
		}
	}
}
