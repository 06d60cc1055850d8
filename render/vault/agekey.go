package vault

import (
	"encoding/base64"
	"io"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// clusterKeys makes the keyring anew if the cluster has another age key in changed than
// in plain, and returns it with changed, in which it is bound. What the cluster decrypts
// gets another data key, which the age key before does not open; the operators' stays.
func (w *writer) clusterKeys(plain, changed []byte) (keyring, bound []byte, err error) {
	file := w.File(source.SecretsName)
	before, err := secretsfile.Parse(file, plain)
	if err != nil {
		return nil, nil, err
	}
	after, err := secretsfile.Parse(file, changed)
	if err != nil || after.ClusterAgeKey.Reveal() == before.ClusterAgeKey.Reveal() {
		return nil, changed, err
	}
	random := make([]byte, 32)
	if _, err := io.ReadFull(w.Repo.Process.Random, random); err != nil {
		return nil, nil, err
	}
	binding := secret.New(base64.StdEncoding.EncodeToString(random))
	w.Mask(binding)
	if keyring, err = w.keyringFor(before.KeyringBinding, binding, after.ClusterAgeKey); err != nil {
		return nil, nil, err
	}
	bound, err = secretsfile.Rebind(file, changed, binding)
	return keyring, bound, err
}

// keyringFor is the keyring with a data key for another age key of the cluster.
func (w *writer) keyringFor(from, to, clusterKey secret.String) ([]byte, error) {
	file := w.File(source.KeyringFile)
	keyring, err := sopsage.ParseKeyring(file, w.Raw[file])
	if err != nil {
		return nil, err
	}
	rule, err := w.Repo.Rule(w.File(source.SecretsName))
	if err != nil {
		return nil, err
	}
	cluster, err := w.clusterRecipients(rule, clusterKey)
	if err != nil {
		return nil, err
	}
	if err := keyring.Reseal(w.ctx, w.Keys, from, to); err != nil {
		return nil, err
	}
	if err := keyring.Rotate(sopsage.Cluster, cluster, to, w.Repo.Process.Random, w.Repo.Process.Now()); err != nil {
		return nil, err
	}
	return keyring.Encode()
}
