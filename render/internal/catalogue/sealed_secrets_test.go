package catalogue_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/bitnami-labs/sealed-secrets/pkg/crypto"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/catalogue/cataloguetest"
)

const sealedCluster = `clusterName: demo
hetzner: {region: hel1}
nodes: {controlPlane: {count: 3, type: cpx22}}
addons: {sealed-secrets: {enabled: true}}
`

// sealing are the facts of a cluster with a key pair, and that it is the real one.
func sealing(t *testing.T, pair string) catalogue.Facts {
	t.Helper()
	f, err := cataloguetest.Facts(t, []byte(sealedCluster))
	if err != nil {
		t.Fatal(err)
	}
	f.Shaped, f.Secrets["SEALED_SECRETS_KEY_PAIR"] = false, secret.New(pair)
	return f
}

// newPair makes the pair as secrets sync does.
func newPair(t *testing.T) string {
	t.Helper()
	for _, n := range catalogue.Needs(sealing(t, "")) {
		if n.Name == "SEALED_SECRETS_KEY_PAIR" {
			pair, err := n.Generate(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			return pair.Reveal()
		}
	}
	t.Fatal("nobody needs a pair")
	return ""
}

// onePair is the pair of tests that need any.
var onePair string

func pairOf(t *testing.T) string {
	t.Helper()
	if onePair == "" {
		onePair = newPair(t)
	}
	return onePair
}

// What kubeseal's own code seals for the certificate in the rendered Secret, the key
// beside it opens, as the controller does; nothing else does.
func TestSealedSecretsOpen(t *testing.T) {
	addons, err := catalogue.Addons(sealing(t, pairOf(t)))
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := sealingSecret(t, addons)
	if until := certificate.NotAfter; until.Before(time.Now().AddDate(100, 0, 0)) || certificate.NotBefore.After(time.Now()) {
		t.Errorf("kubeseal would not use a certificate that ends at %v", until)
	}
	label, plain := []byte("web/database"), []byte("a password\n")
	sealed, err := crypto.HybridEncrypt(rand.Reader, certificate.PublicKey.(*rsa.PublicKey), plain, label)
	if err != nil {
		t.Fatal(err)
	}
	fingerprint, err := crypto.PublicKeyFingerprint(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]*rsa.PrivateKey{fingerprint: key}
	if got, err := crypto.HybridDecrypt(rand.Reader, keys, sealed, label); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("opened: %q %v", got, err)
	}
	if got, err := crypto.HybridDecrypt(rand.Reader, keys, sealed, []byte("web/other")); err == nil {
		t.Errorf("opened as another Secret: %q", got)
	}
}

// sealingSecret is the pair in the Secret from which the controller takes it.
func sealingSecret(t *testing.T, addons []catalogue.Addon) (*x509.Certificate, *rsa.PrivateKey) {
	t.Helper()
	for _, a := range addons {
		for _, o := range a.Objects {
			metadata := o["metadata"].(map[string]any)
			labels, _ := metadata["labels"].(map[string]any)
			if o.Kind() != "Secret" || labels["sealedsecrets.bitnami.com/sealed-secrets-key"] != "active" {
				continue
			}
			if o["type"] != "kubernetes.io/tls" || o.Namespace() != "kube-system" {
				t.Errorf("the controller looks for another Secret than %v in %s", o["type"], o.Namespace())
			}
			data := o["stringData"].(map[string]any)
			certificate, err := x509.ParseCertificate(block(t, data["tls.crt"]))
			if err != nil {
				t.Fatal(err)
			}
			key, err := x509.ParsePKCS1PrivateKey(block(t, data["tls.key"]))
			if err != nil {
				t.Fatal(err)
			}
			return certificate, key
		}
	}
	t.Fatal("no Secret has a pair")
	return nil, nil
}

// block is the one thing that a text in PEM has.
func block(t *testing.T, text any) []byte {
	t.Helper()
	b, rest := pem.Decode([]byte(text.(string)))
	if b == nil || len(rest) > 0 {
		t.Fatal("no PEM, or more than one thing in it")
	}
	return b.Bytes
}

// A pair that somebody takes over is looked at, and not shown.
func TestSealedSecretsPair(t *testing.T) {
	pair, other := pairOf(t), newPair(t)
	at := strings.LastIndex(pair, "-----BEGIN")
	certificate, key := pair[:at], pair[at:]
	private, err := x509.ParsePKCS1PrivateKey(block(t, key))
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, pair, want string }{
		{"as it was made", pair, ""},
		{"as openssl writes it", certificate + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})), ""},
		{"the other way round", key + certificate, "does not begin with a certificate"},
		{"the key alone", key, "does not begin with a certificate"},
		{"the certificate alone", certificate, "does not begin with a certificate"},
		{"of two pairs", certificate + other[strings.LastIndex(other, "-----BEGIN"):], "is not that of its certificate"},
		{"a text", "hunter2", "does not begin with a certificate"},
		{"cut off", pair[:len(pair)-40], "does not end with a private key"},
		{"damaged", strings.Replace(certificate, "MII", "AAA", 1) + key, "certificate is not valid"},
		{"of an elliptic curve", certificate + "-----BEGIN EC PRIVATE KEY-----\nMA==\n-----END EC PRIVATE KEY-----\n", "none of RSA"},
	} {
		_, err := catalogue.Addons(sealing(t, c.pair))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || diag.CodeOf(err) != diag.Secrets) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "-----")) {
			t.Errorf("%s: it is shown", c.name)
		}
	}
}
