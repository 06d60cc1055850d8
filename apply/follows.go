package apply

import (
	"bytes"

	"go.yaml.in/yaml/v4"
)

// fluxFile is the file of a tree that tells Flux what to watch.
const fluxFile = "flux/manifests.yaml"

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
			} `yaml:"spec"`
		}
		if dec.Decode(&o) != nil {
			return "" // no more of them; the seal says that a render wrote the file
		}
		if o.Kind == "GitRepository" {
			return o.Spec.Ref.Branch
		}
	}
}
