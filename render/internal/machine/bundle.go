package machine

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// Bundle holds the secrets that a cluster is made from: its CAs, tokens and
// encryption keys, as `talosctl gen secrets` writes them.
type Bundle struct {
	bundle *secrets.Bundle
	values []secret.String
	// In a rotation: of what, and the certificate or public key, in PEM, that nodes
	// trust besides.
	rotates  rotation.Kind
	accepted []byte
	// How Secrets in etcd are encrypted, if not as Talos does it by itself.
	encryption encryption
}

// NewBundle generates a bundle for a contract such as "v1.13". Certificates
// are valid from now.
func NewBundle(contract string, now time.Time) (*Bundle, error) {
	vc, err := parseContract(contract)
	if err != nil {
		return nil, err
	}
	b, err := secrets.NewBundle(secrets.NewFixedClock(now), vc)
	if err != nil {
		return nil, fmt.Errorf("generating a secrets bundle: %w", err)
	}
	return wrapBundle(b)
}

// PlaceholderBundle generates a bundle whose secrets have the right shape and
// belong to nobody. It costs a millisecond where [NewBundle] costs a second,
// because its service account key is not RSA.
func PlaceholderBundle(contract string, now time.Time) (*Bundle, error) {
	vc, err := parseContract(contract)
	if err != nil {
		return nil, err
	}
	b, err := secrets.NewBundle(secrets.NewFixedClock(now), vc, secrets.WithECDSAServiceAccountKey())
	if err != nil {
		return nil, fmt.Errorf("generating a placeholder bundle: %w", err)
	}
	return wrapBundle(b)
}

// ParseBundle reads a bundle from YAML as `talosctl gen secrets` writes it.
// Errors repeat no values.
func ParseBundle(text []byte) (*Bundle, error) {
	var b secrets.Bundle
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&b); err != nil {
		return nil, errors.New("not a secrets bundle as `talosctl gen secrets` writes it")
	}
	if err := complete(&b); err != nil {
		return nil, err
	}
	return wrapBundle(&b)
}

// BundleFromConfig takes the secrets out of the machine configuration of a
// control plane.
func BundleFromConfig(text []byte) (*Bundle, error) {
	cfg, err := configloader.NewFromBytes(text)
	if err != nil {
		return nil, errors.New("not a machine configuration that talosgen's Talos library can read")
	}
	if cfg.Machine() == nil || !cfg.Machine().Type().IsControlPlane() {
		return nil, errors.New("not the configuration of a control plane: only that one holds the CA keys")
	}
	b, err := secrets.NewBundleFromConfig(secrets.NewFixedClock(time.Time{}), cfg)
	if err != nil {
		return nil, errors.New("the configuration does not hold all secrets of a cluster")
	}
	if err := complete(b); err != nil {
		return nil, err
	}
	return wrapBundle(b)
}

// complete checks that nothing is missing that a configuration is made from.
func complete(b *secrets.Bundle) error {
	pair := func(c *x509.PEMEncodedCertificateAndKey) bool { return c != nil && len(c.Crt) > 0 && len(c.Key) > 0 }
	switch {
	case b.Cluster == nil || b.Cluster.ID == "" || b.Cluster.Secret == "":
		return errors.New("the secrets bundle has no cluster id and secret")
	case b.Secrets == nil || strings.Trim(b.Secrets.BootstrapToken, ".") == "": // "." out of a configuration without one
		return errors.New("the secrets bundle has no bootstrap token")
	case b.Secrets.SecretboxEncryptionSecret == "" && b.Secrets.AESCBCEncryptionSecret == "":
		return errors.New("the secrets bundle has no encryption secret")
	case b.TrustdInfo == nil || b.TrustdInfo.Token == "":
		return errors.New("the secrets bundle has no machine token")
	case b.Certs == nil || !pair(b.Certs.Etcd) || !pair(b.Certs.K8s) || !pair(b.Certs.K8sAggregator) || !pair(b.Certs.OS):
		return errors.New("the secrets bundle lacks a CA certificate or key (etcd, k8s, k8saggregator, os)")
	case b.Certs.K8sServiceAccount == nil || len(b.Certs.K8sServiceAccount.Key) == 0:
		return errors.New("the secrets bundle has no service account key")
	}
	return nil
}

func wrapBundle(b *secrets.Bundle) (*Bundle, error) {
	// Certificates that are signed with the bundle's CAs are not part of
	// machine configurations, so the clock does not matter.
	if b.Clock == nil {
		b.Clock = secrets.NewFixedClock(time.Time{})
	}
	text, err := yaml.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encoding the secrets bundle: %w", err)
	}
	wrapped := &Bundle{bundle: b}
	err = yamltext.Scan(text, func(l *yamltext.Leaf) error {
		if l.Value != "" {
			wrapped.values = append(wrapped.values, secret.New(l.Value))
		}
		return nil
	})
	if err != nil {
		return nil, errors.New("the secrets bundle cannot be read back")
	}
	for _, pem := range wrapped.pems() {
		wrapped.values = append(wrapped.values, secret.New(string(pem)))
	}
	return wrapped, nil
}

// pems returns certificates and keys as text: the 1.14 documents hold them so,
// the v1alpha1 document in base64.
func (b *Bundle) pems() [][]byte {
	c := b.bundle.Certs
	all := [][]byte{c.K8sServiceAccount.Key}
	for _, pair := range []*x509.PEMEncodedCertificateAndKey{c.Etcd, c.K8s, c.K8sAggregator, c.OS} {
		all = append(all, pair.Crt, pair.Key)
	}
	return all
}

// YAML encodes the bundle as `talosctl gen secrets` does. It is plaintext.
func (b *Bundle) YAML() ([]byte, error) {
	text, err := yaml.Marshal(b.bundle)
	if err != nil {
		return nil, fmt.Errorf("encoding the secrets bundle: %w", err)
	}
	return text, nil
}

// AESCBC is the secret that Secrets in etcd are encrypted with since before Talos 1.3;
// empty if there is none.
func (b *Bundle) AESCBC() string { return b.bundle.Secrets.AESCBCEncryptionSecret }

// Values returns every value of the bundle, for masking.
func (b *Bundle) Values() []secret.String { return b.values }
