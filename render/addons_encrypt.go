package render

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/envelope"
	"github.com/talosgen/talosgen/render/internal/gitops"
)

// manifestFile writes a file with objects; a Secret encrypted for those who are
// to read it.
func (c *compiler) manifestFile(f gitops.File) ([]byte, error) {
	text, err := manifest.Encode(f.Objects...)
	if err != nil || f.Domain == gitops.Plain {
		return text, err
	}
	key := c.secrets.operator
	if f.Domain == gitops.Cluster {
		if key, err = c.clusterKey(); err != nil {
			return nil, err
		}
	}
	leaves, err := yamltext.Leaves(text)
	if err != nil {
		return nil, diag.On("addon "+f.Addon, "the Secret %s cannot be written: %v", f.Objects[0].ID(), err)
	}
	secret := make([]bool, len(leaves))
	for i := range leaves {
		secret[i] = sopsage.InManifest(envelope.Keys(leaves[i].Path)) && leaves[i].Kind < yamltext.Null
	}
	doc := envelope.Document{Text: text, Leaves: leaves, Secret: secret, Unmarked: true}
	return envelope.Seal([]envelope.Document{doc}, fileCipher{key.Manifest(c.name + "/" + f.Path)})
}

// clusterKey unwraps the data key of what the cluster itself decrypts, once.
func (c *compiler) clusterKey() (*sopsage.DataKey, error) {
	if c.secrets.cluster != nil {
		return c.secrets.cluster, nil
	}
	file := c.path(keyringFile)
	keyring, err := sopsage.ParseKeyring(file, c.raw[file])
	if err != nil {
		return nil, err
	}
	c.secrets.cluster, err = keyring.Unwrap(c.ctx, c.keys, sopsage.Cluster, c.secrets.file.KeyringBinding)
	return c.secrets.cluster, err
}
