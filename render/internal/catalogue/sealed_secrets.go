package catalogue

import (
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

const (
	sealedName = "sealed-secrets"
	// sealedPair is the variable with the certificate that kubeseal encrypts for, and
	// the key that the controller decrypts with.
	sealedPair = "SEALED_SECRETS_KEY_PAIR"
	// sealedBits is the size of the keys that the controller would make.
	sealedBits = 4096
)

// PEM's names of what a pair is made of.
const (
	pemCertificate = "CERTIFICATE"
	pemKey         = "RSA PRIVATE KEY"
)

// sealedSecrets makes Secrets of what everyone may read. The controller takes its key
// from a Secret, and makes none: one that nobody keeps is lost with the cluster.
func sealedSecrets() entry {
	return charted(entry{
		about: "makes Secrets of what was encrypted with kubeseal, with a key that outlives the cluster",
		name:  sealedName, layer: Controllers, namespace: kubeSystem, version: "2.18.5",
		keep: true, // with their definition go the Secrets that were made
		needs: func(*facts) []Need {
			return []Need{{
				Name: sealedPair, What: "the key pair of sealed secrets, without which none can be opened", Generate: newSealingPair,
				Copied: true, Shape: "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\nMA==\n-----END RSA PRIVATE KEY-----\n",
			}}
		},
	}, "https://bitnami-labs.github.io/sealed-secrets", sealedName, func(f *facts, a *Addon) fields {
		certificate, key := sealingPair(f)
		pair := secretObject(a.Namespace, "sealed-secrets-key", map[string]string{"tls.crt": certificate, "tls.key": key})
		pair["type"] = "kubernetes.io/tls"
		a.Objects = append(a.Objects, labelled(pair, map[string]string{"sealedsecrets.bitnami.com/sealed-secrets-key": "active"}))
		return fields{
			"fullnameOverride": "sealed-secrets-controller", // where kubeseal looks for it
			"keyrenewperiod":   "0",
			"metrics":          fields{"serviceMonitor": f.serviceMonitor(a)},
		}
	})
}

// newSealingPair makes a key, and a certificate that it signs itself. The dates in it
// mean nothing: the pair is valid for as long as it is there.
func newSealingPair(random io.Reader) (secret.String, error) {
	serial := make([]byte, 16)
	if _, err := io.ReadFull(random, serial); err != nil {
		return secret.String{}, err
	}
	key, err := rsa.GenerateKey(random, sealedBits)
	if err != nil {
		return secret.String{}, err
	}
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: sealedName},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage: x509.KeyUsageEncipherOnly, BasicConstraintsValid: true, IsCA: true,
	}
	certificate, err := x509.CreateCertificate(random, template, template, key.Public(), key)
	if err != nil {
		return secret.String{}, err
	}
	return secret.New(encoded(pemCertificate, certificate) + encoded(pemKey, x509.MarshalPKCS1PrivateKey(key))), nil
}

func encoded(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// sealingPair are the certificate and the key of the pair that is kept.
func sealingPair(f *facts) (certificate, key string) {
	text := f.Secrets[sealedPair].Reveal()
	at := max(strings.LastIndex(text, "-----BEGIN "), 0)
	certificate, key = text[:at], text[at:]
	if text == "" || f.Shaped {
		return certificate, key
	}
	if err := checkPair(certificate, key); err != nil {
		f.problems.Add(diag.New(f.near("addons."+sealedName+".enabled"), "the secret variable %s is no key pair of sealed secrets: %v", sealedPair, err).WithCode(diag.Secrets).
			WithHint("it is a certificate and after it its private key, both in PEM, as tls.crt and tls.key of a Secret of the controller;\n`talosgen secrets edit %s` changes it", f.Environment))
	}
	return certificate, key
}

// checkPair tells what is wrong with a pair, without a word of it.
func checkPair(certificate, key string) error {
	c, _ := pem.Decode([]byte(certificate))
	if c == nil || c.Type != pemCertificate {
		return errors.New("it does not begin with a certificate")
	}
	parsed, err := x509.ParseCertificate(c.Bytes)
	if err != nil {
		return errors.New("its certificate is not valid")
	}
	k, _ := pem.Decode([]byte(key))
	if k == nil {
		return errors.New("it does not end with a private key")
	}
	private, err := parseKey(k)
	if err != nil {
		return errors.New("its private key is none of RSA")
	}
	if !private.PublicKey.Equal(parsed.PublicKey) {
		return errors.New("its private key is not that of its certificate")
	}
	return nil
}

// parseKey reads a key as the controller would have written it, or as openssl does.
func parseKey(k *pem.Block) (*rsa.PrivateKey, error) {
	if k.Type == pemKey {
		return x509.ParsePKCS1PrivateKey(k.Bytes)
	}
	any, err := x509.ParsePKCS8PrivateKey(k.Bytes)
	if private, ok := any.(*rsa.PrivateKey); ok {
		return private, nil
	}
	return nil, errors.Join(err, errors.New("another kind of key"))
}
