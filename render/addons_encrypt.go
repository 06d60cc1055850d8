package render

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/envelope"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/render/internal/source"
)

// manifestFile writes a file with objects; a Secret encrypted for those who are
// to read it.
func (c *compiler) manifestFile(f gitops.File) ([]byte, error) {
	text, err := manifest.Encode(f.Objects...)
	if err != nil || f.Domain == gitops.Plain {
		return text, err
	}
	key := c.secrets.Operator
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
	return envelope.Seal([]envelope.Document{doc}, fileCipher{key.Manifest(c.Name + "/" + f.Path)})
}

// clusterKey unwraps the data key of what the cluster itself decrypts, once.
func (c *compiler) clusterKey() (*sopsage.DataKey, error) {
	if c.secrets.Cluster != nil {
		return c.secrets.Cluster, nil
	}
	file := c.Path(source.KeyringFile)
	keyring, err := sopsage.ParseKeyring(file, c.Raw[file])
	if err != nil {
		return nil, err
	}
	c.secrets.Cluster, err = keyring.Unwrap(c.ctx, c.Keys, sopsage.Cluster, c.secrets.File.KeyringBinding)
	return c.secrets.Cluster, err
}
