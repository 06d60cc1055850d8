package apply

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"
)

// fluxFile is the file of a tree that tells Flux what to watch.
const fluxFile = "flux/manifests.yaml"

// gitRepository is the kind of a repository that Flux follows.
const gitRepository = "GitRepository"

// Follows returns the branch that Flux follows; empty if the tree has nothing
// for Flux.
func (e *Environment) Follows() string {
	dec := yaml.NewDecoder(bytes.NewReader(e.files[fluxFile]))
	for {
		var o struct {
			Kind string `yaml:"kind"`
			Spec struct {
				Ref struct {
					Branch string `yaml:"branch"`
				} `yaml:"ref"`
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
		case o.Spec.Sync.Kind == gitRepository: // of a FluxInstance
			return strings.TrimPrefix(o.Spec.Sync.Ref, "refs/heads/")
		}
	}
}
