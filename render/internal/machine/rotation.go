package machine

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/types/k8s"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// Accepting returns the bundle for nodes that trust one more authority of a kind.
// certificate and key are PEM in base64, as in a bundle.
func (b *Bundle) Accepting(kind rotation.Kind, certificate, key secret.String) (*Bundle, error) {
	text := certificate
	if kind == rotation.ServiceAccount {
		text = key
	}
	pem, err := base64.StdEncoding.DecodeString(text.Reveal())
	if err == nil && kind == rotation.ServiceAccount {
		pem, err = publicKey(pem)
	} else if !bytes.Contains(pem, []byte("-----BEGIN CERTIFICATE-----")) {
		err = errors.New("not a certificate in base64")
	}
	if err != nil {
		return nil, err
	}
	with := *b
	with.rotates, with.accepted, with.values = kind, pem, append(slices.Clone(b.values), text, secret.New(string(pem)))
	return &with, nil
}

// publicKey is that of a private key, both PEM.
func publicKey(private []byte) ([]byte, error) {
	key, err := (&x509.PEMEncodedKey{Key: private}).GetKey()
	if err != nil {
		return nil, errors.New("not a private key in base64")
	}
	return key.GetPublicKeyPEM(), nil
}

// NewAuthority makes what a rotation of a kind goes to, valid from now: a certificate
// and its key, PEM in base64. The service account key has no certificate.
func NewAuthority(kind rotation.Kind, now time.Time) (certificate, key secret.String, err error) {
	encode := func(pem []byte) secret.String { return secret.New(base64.StdEncoding.EncodeToString(pem)) }
	var ca *x509.CertificateAuthority
	switch kind {
	case rotation.TalosCA:
		ca, err = secrets.NewTalosCA(now)
	case rotation.KubernetesCA:
		ca, err = secrets.NewKubernetesCA(now, nil)
	case rotation.EncryptionKey:
		return certificate, key, errors.New("it has no authority")
	case rotation.ServiceAccount:
		made, err := x509.NewRSAKey()
		if err != nil {
			return certificate, key, fmt.Errorf("making %s: %w", kind.Subject(), err)
		}
		return certificate, encode(made.KeyPEM), nil
	}
	if err != nil {
		return certificate, key, fmt.Errorf("making %s: %w", kind.Subject(), err)
	}
	return encode(ca.CrtPEM), encode(ca.KeyPEM), nil
}

// errOneKey says where the service account key cannot be rotated.
var errOneKey = diag.On(string(rotation.ServiceAccount), "the service account key is rotated, and Talos has one key only up to contract 1.13").
	WithHint("go back with `talosgen rotate <env> service-account --abort`; or set configContract to 1.14 first, if all nodes run that")

// accept lets a node trust the other authority of a rotation.
func (b *Bundle) accept(doc config.Document) {
	switch doc := doc.(type) {
	case *v1alpha1.Config:
		certificate := []*x509.PEMEncodedCertificate{{Crt: b.accepted}}
		switch {
		case b.rotates == rotation.TalosCA:
			doc.MachineConfig.MachineAcceptedCAs = append(doc.MachineConfig.MachineAcceptedCAs, certificate...)
		//lint:ignore SA1019 its place up to contract 1.13
		case b.rotates == rotation.KubernetesCA && doc.ClusterConfig.ClusterCA != nil:
			//lint:ignore SA1019 its place up to contract 1.13
			doc.ClusterConfig.ClusterAcceptedCAs = append(doc.ClusterConfig.ClusterAcceptedCAs, certificate...)
		}
	case *k8s.KubeAPIServerCAConfigV1Alpha1:
		if b.rotates == rotation.KubernetesCA {
			doc.APIAcceptedCAs = append(doc.APIAcceptedCAs, string(b.accepted))
		}
	case *k8s.KubeServiceAccountConfigV1Alpha1:
		if b.rotates == rotation.ServiceAccount {
			doc.ServiceAccepted.PublicKeys = append(doc.ServiceAccepted.PublicKeys, string(b.accepted))
		}
	}
}
