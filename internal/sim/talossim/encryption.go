package talossim

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// encryptionConfig is the configuration of an API server that says how it stores what.
type encryptionConfig struct {
	Resources []struct {
		Resources []string `yaml:"resources"`
		Providers []map[string]struct {
			Keys []struct {
				Name   string `yaml:"name"`
				Secret string `yaml:"secret"`
			} `yaml:"keys"`
		} `yaml:"providers"`
	} `yaml:"resources"`
}

// encryptionKeys are the keys for Secrets, by what tells them from others, in their order.
func encryptionKeys(text *yaml.Node) (all []string) {
	var c encryptionConfig
	if text.Decode(&c) != nil {
		return nil
	}
	for _, r := range c.Resources {
		for _, providers := range r.Providers {
			for name, p := range providers {
				for _, k := range p.Keys {
					all = append(all, encryptionKey(name, k.Name, k.Secret)...)
				}
			}
		}
	}
	return all
}

// encryptionKey is none without a secret.
func encryptionKey(provider, name, secret string) []string {
	if secret == "" {
		return nil
	}
	return []string{provider + ":" + name + ":" + secret}
}

// readsSecrets notes an API server that starts and has not the keys of all Secrets.
func (m *Machine) readsSecrets() {
	if m.etcd.cluster == nil || len(m.active.secretKeys) == 0 {
		return
	}
	for key := range m.etcd.cluster.kube.StoredWith() {
		if key != "" && !slices.Contains(m.active.secretKeys, key) {
			m.fleet.violate("%s: its API server cannot read all Secrets", m.spec.Name)
		}
	}
}
