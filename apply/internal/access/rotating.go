package access

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/rotation"
)

// Rotating are the kinds of which the configuration trusts another one beside the one
// that signs.
func (a *Authorities) Rotating() (kinds []rotation.Kind) {
	if len(a.Talos.accepted) > 0 {
		kinds = append(kinds, rotation.TalosCA)
	}
	if len(a.Kubernetes.accepted) > 0 {
		kinds = append(kinds, rotation.KubernetesCA)
	}
	if a.tokenKeys {
		kinds = append(kinds, rotation.ServiceAccount)
	}
	if a.secretKeys {
		kinds = append(kinds, rotation.EncryptionKey)
	}
	return kinds
}

// encryptionKeys counts the keys of a configuration that says how Secrets are stored.
func encryptionKeys(config *yaml.Node) (count int) {
	var c struct {
		Resources []struct {
			Providers []map[string]struct {
				Keys []yaml.Node `yaml:"keys"`
			} `yaml:"providers"`
		} `yaml:"resources"`
	}
	if config.Decode(&c) != nil {
		return 0 // of another shape: nobody rotates it
	}
	for _, r := range c.Resources {
		for _, p := range r.Providers {
			for _, of := range p {
				count += len(of.Keys)
			}
		}
	}
	return count
}
