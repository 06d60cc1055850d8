package nodeconfig

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/rotation"
)

// encryptionConfig is the document of Talos 1.14 that says how Secrets are stored. Before
// it Talos has one key of a kind, whose name it gives: nothing is rotated there.
const encryptionConfig = "KubeEtcdEncryptionConfig"

// identityProvider reads and writes what is not encrypted.
const identityProvider = "identity"

// encryptionTrust are the keys that an API server encrypts with (the first) and reads,
// by digests of their provider, name and secret. It is empty for a configuration that
// does not only list keys.
func encryptionTrust(root *yaml.Node) rotation.Trust {
	of := encryptedResources(root)
	if of == nil {
		return rotation.Trust{}
	}
	var all []string
	for _, provider := range items(child(of, "providers")) {
		if provider.Kind != yaml.MappingNode || len(provider.Content) != 2 {
			return rotation.Trust{}
		}
		name, keys := provider.Content[0].Value, items(child(provider.Content[1], "keys"))
		switch {
		case name == identityProvider:
			all = append(all, name)
		case len(keys) == 0:
			return rotation.Trust{}
		}
		for _, key := range keys {
			all = append(all, rotation.DigestOf(strings.Join([]string{name, textOf(key, "name"), textOf(key, "secret")}, "\x00")))
		}
	}
	if len(all) == 0 {
		return rotation.Trust{}
	}
	return rotation.Trust{Issues: all[0], Accepts: all[1:]}
}

// encryptedResources is the entry of the resources that are encrypted; nil if there is not just one.
func encryptedResources(root *yaml.Node) *yaml.Node {
	if all := items(at(root, "config", "resources")); len(all) == 1 {
		return all[0]
	}
	return nil
}

// readableAfter reports whether two configurations encrypt the same resources, and if a
// key goes, Secrets alone: these are written again before, and nothing else is.
func readableAfter(active, desired *Config) bool {
	of := func(c *Config) []string {
		d := c.kind(encryptionConfig)
		if d == nil {
			return nil
		}
		return listed(child(encryptedResources(d.root), "resources"))
	}
	goes := rotation.Forgets(active.Trust(rotation.EncryptionKey), desired.Trust(rotation.EncryptionKey))
	return slices.Equal(of(active), of(desired)) && (!goes || slices.Equal(of(desired), []string{"secrets"}))
}

// items are the elements of a list; none of anything else.
func items(list *yaml.Node) []*yaml.Node {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	return list.Content
}
