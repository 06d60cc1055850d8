// Package encrypt writes the files of a rendered tree that hold secrets: each
// with its secret values encrypted in SOPS' format, for those who are to read it.
package encrypt

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/envelope"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/schemas"
)

// Config returns a machine configuration with its secret values encrypted. The name
// of the file, with its environment, is bound into what is encrypted.
func Config(key *sopsage.DataKey, name string, cfg *machine.Config) ([]byte, error) {
	docs := make([]envelope.Document, len(cfg.Documents()))
	for i, d := range cfg.Documents() {
		leaves, err := d.Leaves()
		if err != nil {
			return nil, err
		}
		text, err := d.Text()
		if err != nil {
			return nil, err
		}
		secret, err := cfg.Secret(d)
		if err != nil {
			return nil, err
		}
		docs[i] = envelope.Document{Text: text, Leaves: leaves, Secret: secret}
	}
	return envelope.Seal(docs, Sealer{key.File(name)})
}

// HostKey returns the file with the SSH host key of the NAT gateway, the private
// half encrypted.
func HostKey(key *sopsage.DataKey, name string, k schemas.HostKey) ([]byte, error) {
	text, err := yaml.Marshal(k)
	if err != nil {
		return nil, err
	}
	return sealed(key, name, text, func(p yamltext.Path) bool { return p.String() == schemas.HostKeySecret })
}

// Notifications returns the file that says whom runs are told to: keys are encrypted, and
// URLs of webhooks that are secret, by their place in the list.
func Notifications(key *sopsage.DataKey, name string, n schemas.RunNotifications, secretURL func(webhook int) bool) ([]byte, error) {
	text, err := yaml.Dump(n, yaml.WithV3Defaults(), yaml.WithIndent(2), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, err
	}
	return sealed(key, name, text, func(p yamltext.Path) bool {
		if len(p) != 3 || p[1].Index < 0 {
			return false // not webhooks[i].key
		}
		return p[2].Key == schemas.WebhookKey || p[2].Key == schemas.WebhookURL && secretURL(p[1].Index)
	})
}

// sealed is a file of one document, with the values encrypted that are secret.
func sealed(key *sopsage.DataKey, name string, text []byte, isSecret func(yamltext.Path) bool) ([]byte, error) {
	leaves, err := yamltext.Leaves(text)
	if err != nil {
		return nil, err
	}
	secret := make([]bool, len(leaves))
	for i, l := range leaves {
		secret[i] = isSecret(l.Path)
	}
	doc := envelope.Document{Text: text, Leaves: leaves, Secret: secret}
	return envelope.Seal([]envelope.Document{doc}, Sealer{key.File(name)})
}

// Secret returns the file with a Secret of Kubernetes, its data encrypted.
func Secret(key *sopsage.DataKey, name string, f gitops.File) ([]byte, error) {
	text, err := manifest.Encode(f.Objects...)
	if err != nil {
		return nil, err
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
	return envelope.Seal([]envelope.Document{doc}, Sealer{key.Manifest(name)})
}
