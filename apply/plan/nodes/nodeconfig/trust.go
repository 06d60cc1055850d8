package nodeconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/rotation"
)

// Trust is which authorities of the Talos API a configuration names, by digests of
// their certificates.
func (c *Config) Trust() rotation.Trust {
	var t rotation.Trust
	d := c.find(ID{})
	if d == nil {
		return t
	}
	t.Issues = certificateOf(at(d.root, "machine", "ca"))
	if list := at(d.root, "machine", "acceptedCAs"); list != nil && list.Kind == yaml.SequenceNode {
		for _, n := range list.Content {
			t.Accepts = append(t.Accepts, certificateOf(n))
		}
	}
	return t
}

// certificateOf is the digest of the certificate of an authority; empty if it has
// none.
func certificateOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.MappingNode {
		return ""
	}
	text := strings.Join(strings.Fields(textOf(n, "crt")), "")
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// rotates reports whether a node goes from one authority to another that it trusts
// already, and goes on to trust the one before.
func rotates(active, desired *Config) bool {
	has, wants := active.Trust(), desired.Trust()
	return has.Issues != "" && wants.Issues != "" && has.Issues != wants.Issues && rotation.Step(has, wants)
}
