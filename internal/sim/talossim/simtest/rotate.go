package simtest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
)

// Turn takes the rotation of the authority of Kubernetes one phase on: a new one is
// trusted, it signs, the old one is forgotten. Configurations that are asked for after
// it are of that phase.
func (c *Cluster) Turn() {
	switch {
	case c.other.certificate == nil:
		c.other = newAuthority(c.t, "kubernetes")
	case !c.turned:
		c.kubernetes, c.other, c.turned = c.other, c.kubernetes, true
	default:
		c.other, c.turned = authority{}, false
	}
}

// Token sets the machine token of configurations that are asked for after it.
func (c *Cluster) Token(token string) { c.token = token }

// Join sets the bootstrap token of configurations that are asked for after it.
func (c *Cluster) Join(token string) { c.join = token }

// joins is the field of it.
func (c *Cluster) joins() string {
	if c.join == "" {
		return ""
	}
	return "  token: " + c.join + "\n"
}

// accepted is the field of what is trusted besides, in a rotation.
func (c *Cluster) accepted() string {
	if c.other.certificate == nil {
		return ""
	}
	return "  acceptedCAs: [{crt: " + base64.StdEncoding.EncodeToString(c.other.certificatePEM()) + "}]\n"
}

// KubernetesAuthorities are the certificates of all authorities of Kubernetes that are
// trusted, PEM.
func (c *Cluster) KubernetesAuthorities() []byte {
	all := string(c.kubernetes.certificatePEM())
	if c.other.certificate != nil {
		all = strings.TrimSpace(all) + "\n" + string(c.other.certificatePEM())
	}
	return []byte(all)
}

// Encrypt sets the names of the keys of Secrets: control planes whose configurations are
// asked for after it encrypt with the first, and read what all of them encrypted.
func (c *Cluster) Encrypt(names ...string) { c.secretKeys = names }

// firstSecretKey is the field of the one key that Talos has before 1.14.
func (c *Cluster) firstSecretKey() string {
	if len(c.secretKeys) > 0 {
		return ""
	}
	return "  secretboxEncryptionSecret: " + secretKey("") + "\n"
}

// encryption is the document of Talos 1.14 with the keys.
func (c *Cluster) encryption() string {
	if len(c.secretKeys) == 0 {
		return ""
	}
	text := "---\napiVersion: v1alpha1\nkind: KubeEtcdEncryptionConfig\nconfig:\n  resources:\n    - resources: [secrets]\n      providers:\n        - secretbox:\n            keys:\n"
	for _, name := range c.secretKeys {
		text += fmt.Sprintf("              - {name: %s, secret: %s}\n", name, secretKey(name))
	}
	return text
}

// secretKey is a key by its name.
func secretKey(name string) string {
	return base64.StdEncoding.EncodeToString(append([]byte(name), bytes.Repeat([]byte{0}, 32-len(name))...))
}
