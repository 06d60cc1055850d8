package toolrepo

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// hides reports whether a value has a secret in it.
func (b *builder) hides(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return b.isSecret(n.Value)
	}
	for _, c := range n.Content {
		if b.hides(c) {
			return true
		}
	}
	return false
}

// isSecret reports whether a text is a secret, or holds one.
func (b *builder) isSecret(text string) bool {
	if text == "" {
		return false
	}
	for _, s := range b.Secrets {
		if s.Reveal() == text || s.Recognisable() && strings.Contains(text, s.Reveal()) {
			return true
		}
	}
	return false
}

// checkReadable makes sure that no secret stands in a file that is not encrypted.
func (b *builder) checkReadable(files map[string]File) error {
	for name, f := range files {
		if f.Secret {
			continue
		}
		for _, s := range b.Secrets {
			if s.Recognisable() && !b.Readable(s.Reveal()) && strings.Contains(string(f.Data), s.Reveal()) {
				return diag.New(diag.Pos{File: name}, "would have a secret in the clear").
					WithHint("this is a fault of talosgen: please report it").WithCode(diag.Secrets)
			}
		}
	}
	return nil
}
