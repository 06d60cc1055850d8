package machine

import (
	"encoding/base64"
	"io"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/types/k8s"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// encryption is how Secrets in etcd are encrypted. Talos knows one key, and its name; a
// key of another name, and a second key, stand in the configuration as documents of
// Talos 1.14 have it.
type encryption struct {
	name  string // of the key of the bundle; empty: as Talos names it
	other Key    // in a rotation; no name: none
}

// Key is a key that Secrets in etcd are encrypted with.
type Key struct {
	Name   string
	Secret secret.String
}

// Encrypting returns the bundle for API servers whose key has a name, and that read what
// another one has encrypted too, if there is one.
func (b *Bundle) Encrypting(name string, other Key) *Bundle {
	with := *b
	if with.encryption.name = name; name == rotation.FirstKeyName {
		with.encryption.name = ""
	}
	if with.encryption.other = other; other.Name != "" {
		with.rotates = rotation.EncryptionKey
		with.values = append(slices.Clone(b.values), other.Secret)
	}
	return &with
}

// likewise returns a bundle with keys of the same names: what is not the same in two
// bundles is taken for secret.
func (b *Bundle) likewise(as *Bundle) *Bundle {
	if as.encryption == (encryption{}) {
		return b
	}
	other := Key{Name: as.encryption.other.Name}
	if other.Name != "" {
		other.Secret = secret.New(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("?", 32))))
	}
	return b.Encrypting(as.encryption.name, other)
}

// NewEncryptionKey makes the key that follows one of a name.
func NewEncryptionKey(random io.Reader, after string) (Key, error) {
	bytes := make([]byte, 32)
	if _, err := io.ReadFull(random, bytes); err != nil {
		return Key{}, err
	}
	return Key{rotation.NextKeyName(after), secret.New(base64.StdEncoding.EncodeToString(bytes))}, nil
}

// errOneEncryptionKey says where the encryption key cannot be rotated.
var errOneEncryptionKey = diag.On(string(rotation.EncryptionKey), "the encryption key of Secrets is rotated, or was, and up to contract 1.13 Talos has one key only, and names it itself").
	WithHint("go back with `talosgen rotate <env> encryption-key --abort`; or set configContract to 1.14 first, if all nodes run that").WithCode(diag.Conflict)

// encrypt lists the keys of the bundle, the one that encrypts first.
func (b *Bundle) encrypt(doc config.Document) {
	d, is := doc.(*k8s.KubeEtcdEncryptionConfigV1Alpha1)
	if !is || b.encryption == (encryption{}) {
		return
	}
	name := b.encryption.name
	if name == "" {
		name = rotation.FirstKeyName
	}
	key := func(name, secret string) any { return map[string]any{"name": name, "secret": secret} }
	keys := []any{key(name, b.bundle.Secrets.SecretboxEncryptionSecret)}
	if other := b.encryption.other; other.Name != "" {
		keys = append(keys, key(other.Name, other.Secret.Reveal()))
	}
	d.Config.Object = map[string]any{"resources": []any{map[string]any{
		"resources": []any{"secrets"},
		"providers": []any{map[string]any{"secretbox": map[string]any{"keys": keys}}},
	}}}
}
