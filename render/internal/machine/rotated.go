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
	kind, texts := b.rotating()
	if len(texts) == 0 {
		return "", nil
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
	return "", nil
}

// rotating are the texts, as configurations have them, that a rotation has added, or has
// left another name with.
func (b *Bundle) rotating() (kind rotation.Kind, texts []string) {
	if len(b.accepted) > 0 {
		texts = append(texts, string(b.accepted), base64.StdEncoding.EncodeToString(b.accepted))
	}
	if b.encryption == (encryption{}) {
		return b.rotates, texts
	}
	texts = append(texts, b.bundle.Secrets.SecretboxEncryptionSecret)
	if other := b.encryption.other; other.Name != "" {
		texts = append(texts, other.Secret.Reveal())
	}
	return rotation.EncryptionKey, texts
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
