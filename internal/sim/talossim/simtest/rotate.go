package simtest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Turn takes the rotation of the authority of Kubernetes one phase on: a new one is
// trusted, it signs, the old one is forgotten. Configurations that are asked for after
// it are of that phase.
func (c *Cluster) Turn() { c.turn("kubernetes", &c.kubernetes, &c.other, &c.turned) }

// TurnTalos does the same with the authority of the Talos API.
func (c *Cluster) TurnTalos() {
	if c.turnedTalos {
		c.forgotten = append(c.forgotten, c.otherTalos)
	}
	c.turn("talos", &c.talos, &c.otherTalos, &c.turnedTalos)
}

func (c *Cluster) turn(organization string, signs, other *authority, turned *bool) {
	switch {
	case other.certificate == nil:
		*other = newAuthority(c.t, organization)
	case !*turned:
		*signs, *other, *turned = *other, *signs, true
	default:
		*other, *turned = authority{}, false
	}
}

// TurnBack takes the rotation of the authority of Kubernetes one phase back, as far as
// that goes: until the old one is forgotten.
func (c *Cluster) TurnBack() { c.turnBack(&c.kubernetes, &c.other, &c.turned) }

// TurnTalosBack does the same with the authority of the Talos API.
func (c *Cluster) TurnTalosBack() {
	if !c.turnedTalos {
		c.forgotten = append(c.forgotten, c.otherTalos)
	}
	c.turnBack(&c.talos, &c.otherTalos, &c.turnedTalos)
}

func (c *Cluster) turnBack(signs, other *authority, turned *bool) {
	if !*turned {
		*other = authority{}
		return
	}
	*other, *signs, *turned = *signs, *other, false
}

// Rotates reports whether there is, or was, more than one authority of the Talos API.
func (c *Cluster) Rotates() bool { return c.otherTalos.certificate != nil || len(c.forgotten) > 0 }

// SignTrusted returns a client certificate of each authority of the Talos API that is
// trusted, and SignForgotten of each that is not any more, with their keys, PEM.
func (c *Cluster) SignTrusted(from time.Time, roles ...string) (pairs [][2][]byte) {
	all := []authority{c.talos}
	if c.otherTalos.certificate != nil {
		all = append(all, c.otherTalos)
	}
	return c.signAll(all, from, roles)
}

// SignForgotten is described at [Cluster.SignTrusted].
func (c *Cluster) SignForgotten(from time.Time, roles ...string) (pairs [][2][]byte) {
	return c.signAll(c.forgotten, from, roles)
}

func (c *Cluster) signAll(all []authority, from time.Time, roles []string) (pairs [][2][]byte) {
	for _, a := range all {
		certificate, key := a.sign(c.t, from, pkix.Name{Organization: roles})
		pairs = append(pairs, [2][]byte{certificate, key})
	}
	return pairs
}

// Token sets the machine token of configurations that are asked for after it.
func (c *Cluster) Token(token string) { c.token = token }

// Identify gives configurations that are asked for after it an id of the cluster, which
// stays when its authorities are others.
func (c *Cluster) Identify(id string) { c.id = id }

// identity is the field of it.
func (c *Cluster) identity() string {
	if c.id == "" {
		return ""
	}
	return "  id: " + c.id + "\n"
}

// Join sets the bootstrap token of configurations that are asked for after it.
func (c *Cluster) Join(token string) { c.join = token }

// joins is the field of it.
func (c *Cluster) joins() string {
	if c.join == "" {
		return ""
	}
	return "  token: " + c.join + "\n"
}

// accepts is the field of what is trusted besides, in a rotation.
func accepts(other authority) string {
	if other.certificate == nil {
		return ""
	}
	return "  acceptedCAs: [{crt: " + base64.StdEncoding.EncodeToString(other.certificatePEM()) + "}]\n"
}

// KubernetesAuthorities are the certificates of all authorities of Kubernetes that are
// trusted, PEM.
func (c *Cluster) KubernetesAuthorities() []byte { return both(c.kubernetes, c.other) }

// both are the certificates of one or two authorities, PEM.
func both(signs, other authority) []byte {
	all := string(signs.certificatePEM())
	if other.certificate != nil {
		all = strings.TrimSpace(all) + "\n" + string(other.certificatePEM())
	}
	return []byte(all)
}

// SignTokens sets the keys of service accounts, by names: control planes whose
// configurations are asked for after it sign with the first, and trust what all of them
// signed.
func (c *Cluster) SignTokens(names ...string) {
	c.tokenKeys = nil
	for _, name := range names {
		if c.keysOfTokens == nil {
			c.keysOfTokens = map[string]ed25519.PrivateKey{}
		}
		if c.keysOfTokens[name] == nil {
			c.keysOfTokens[name] = newAuthority(c.t, name).key
		}
		c.tokenKeys = append(c.tokenKeys, c.keysOfTokens[name])
	}
}

// serviceAccounts is the document of Talos 1.14 with the keys.
func (c *Cluster) serviceAccounts() string {
	if len(c.tokenKeys) == 0 {
		return ""
	}
	text := "---\napiVersion: v1alpha1\nkind: KubeServiceAccountConfig\nissuer:\n  privateKey: " + quoted(keyPEM(c.t, c.tokenKeys[0])) + "\n"
	if len(c.tokenKeys) == 1 {
		return text
	}
	text += "accepted:\n  publicKeys:\n"
	for _, key := range c.tokenKeys[1:] {
		der, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			c.t.Fatal(err)
		}
		text += "    - " + quoted(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})) + "\n"
	}
	return text
}

func quoted(text []byte) string { return strconv.Quote(string(text)) }

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
