package machine

import (
	"encoding/base64"
	"strings"

	"github.com/talosgen/talosgen/internal/rotation"
)

// Lost says of which rotation a configuration lacks what the base below its patches has:
// an authority that is trusted, or a key of Secrets. A patch that replaces the place would
// make a rotation do nothing, and its last phase cut off what was never let in.
func (b *Bundle) Lost(base, cfg *Config) (rotation.Kind, error) {
	all := b.rotating()
	for _, kind := range rotation.Kinds() {
		texts := all[kind]
		if len(texts) == 0 {
			continue
		}
		before, err := base.holding(texts)
		if err != nil {
			return "", err
		}
		after, err := cfg.holding(texts)
		if err != nil {
			return "", err
		}
		for text := range before {
			if !after[text] {
				return kind, nil
			}
		}
	}
	return "", nil
}

// rotating are the texts, as configurations have them, that a rotation has added, or has
// left another name with, by what it is of.
func (b *Bundle) rotating() map[rotation.Kind][]string {
	all := map[rotation.Kind][]string{}
	if len(b.accepted) > 0 {
		all[b.rotates] = []string{string(b.accepted), base64.StdEncoding.EncodeToString(b.accepted)}
	}
	if b.encryption != (encryption{}) {
		all[rotation.EncryptionKey] = append(all[rotation.EncryptionKey], b.bundle.Secrets.SecretboxEncryptionSecret)
	}
	if other := b.encryption.other; other.Name != "" {
		all[rotation.EncryptionKey] = append(all[rotation.EncryptionKey], other.Secret.Reveal())
	}
	return all
}

// holding are those of some texts that are a value of the configuration.
func (c *Config) holding(texts []string) (map[string]bool, error) {
	found := map[string]bool{}
	for _, d := range c.docs {
		leaves, err := d.Leaves()
		if err != nil {
			return nil, err
		}
		for _, l := range leaves {
			for _, text := range texts {
				if strings.TrimSpace(l.Value) == strings.TrimSpace(text) {
					found[text] = true
				}
			}
		}
	}
	return found, nil
}
