package access

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// newPair is an authority as a machine configuration holds it, valid for a year.
func newPair(t testing.TB, kind string) pair {
	t.Helper()
	var public, private any
	var block pem.Block
	var err error
	switch kind {
	case "ed25519":
		public, private, err = ed25519.GenerateKey(rand.Reader)
		block.Type = "ED25519 PRIVATE KEY"
		if err == nil {
			block.Bytes, err = x509.MarshalPKCS8PrivateKey(private)
		}
	case "ecdsa":
		key, keyErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err = keyErr; err == nil {
			public, private, block.Type = key.Public(), key, "EC PRIVATE KEY"
			block.Bytes, err = x509.MarshalECPrivateKey(key)
		}
	case "rsa":
		key, keyErr := rsa.GenerateKey(rand.Reader, 2048)
		if err = keyErr; err == nil {
			public, private, block.Type = key.Public(), key, "RSA PRIVATE KEY"
			block.Bytes = x509.MarshalPKCS1PrivateKey(key)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{kind}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		Crt: encode64(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		Key: encode64(pem.EncodeToMemory(&block)),
	}
}

func newAuthority(t testing.TB, kind string) *Authority {
	t.Helper()
	a, err := newPair(t, kind).parse("nodes/a.yaml", "the Talos API")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// oldConfig and newConfig are machine configurations of contracts before and
// since 1.14.
func oldConfig(talos, kubernetes pair) string {
	return fmt.Sprintf("version: v1alpha1\nmachine:\n  ca: {crt: %s, key: %s}\ncluster:\n  ca: {crt: %s, key: %s}\n---\napiVersion: v1alpha1\nkind: HostnameConfig\n",
		talos.Crt, talos.Key, kubernetes.Crt, kubernetes.Key)
}

func newConfig(talos, kubernetes pair) string {
	return fmt.Sprintf("version: v1alpha1\nmachine:\n  ca: {crt: %s, key: %s}\n---\napiVersion: v1alpha1\nkind: KubeAggregatorCAConfig\nissuingCA: {cert: x, key: x}\n---\nkind: KubeAPIServerCAConfig\nissuingCA: {cert: %q, key: %q}\n",
		talos.Crt, talos.Key, decode64(kubernetes.Crt), decode64(kubernetes.Key))
}

func TestRead(t *testing.T) {
	talos := newPair(t, "ed25519")
	for _, kind := range []string{"ecdsa", "rsa"} {
		kubernetes := newPair(t, kind)
		for name, config := range map[string]string{"old": oldConfig(talos, kubernetes), "1.14": newConfig(talos, kubernetes)} {
			t.Run(kind+" "+name, func(t *testing.T) {
				got, err := Read("nodes/a.yaml", []byte(config))
				if err != nil {
					t.Fatal(err)
				}
				if encode64(got.Talos.PEM()) != talos.Crt || encode64(got.Kubernetes.PEM()) != kubernetes.Crt {
					t.Error("the authorities are mixed up")
				}
			})
		}
	}
}

// TestReadAccepted: in a rotation, what is trusted besides is known too, of the right
// API, in each contract.
func TestReadAccepted(t *testing.T) {
	talos, kubernetes, other, more := newPair(t, "ed25519"), newPair(t, "ecdsa"), newPair(t, "ed25519"), newPair(t, "ecdsa")
	old := fmt.Sprintf("machine:\n  ca: {crt: %s, key: %s}\n  acceptedCAs: [{crt: %s}]\ncluster:\n  ca: {crt: %s, key: %s}\n  acceptedCAs: [{crt: %s}]\n",
		talos.Crt, talos.Key, other.Crt, kubernetes.Crt, kubernetes.Key, more.Crt)
	for name, config := range map[string]string{
		"old":  old,
		"1.14": newConfig(talos, kubernetes) + fmt.Sprintf("acceptedCAs: [%q]\n---\nmachine:\n  ca: {crt: %s, key: %s}\n  acceptedCAs: [{crt: %s}]\n", decode64(more.Crt), talos.Crt, talos.Key, other.Crt),
	} {
		got, err := Read("nodes/a.yaml", []byte(config))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if kinds := fmt.Sprint(got.Rotating()); kinds != "[talos-ca kubernetes-ca]" {
			t.Errorf("%s: rotating %s", name, kinds)
		}
		for api, want := range map[*Authority][]string{got.Talos: {talos.Crt, other.Crt}, got.Kubernetes: {kubernetes.Crt, more.Crt}} {
			if joined := strings.TrimSpace(string(decode64(want[0]))) + "\n" + string(decode64(want[1])); string(api.PEM()) != joined {
				t.Errorf("%s: %s trusts something else", name, api)
			}
		}
	}
	for _, broken := range []string{strings.Replace(old, more.Crt, "c2VjcmV0LWNhbmFyeQ==", 1), newConfig(talos, kubernetes) + "acceptedCAs: {a: b}\n"} {
		if _, err := Read("nodes/a.yaml", []byte(broken)); err == nil || strings.Contains(err.Error(), "c2Vjcm") {
			t.Errorf("got %v", err)
		}
	}
}

func TestRotating(t *testing.T) {
	plain := newConfig(newPair(t, "ed25519"), newPair(t, "ecdsa"))
	for config, want := range map[string]string{
		plain: "[]",
		plain + "---\nkind: KubeServiceAccountConfig\naccepted: {issuers: [https://example.com]}\n":                                                    "[]",
		plain + "---\nkind: KubeServiceAccountConfig\naccepted: {publicKeys: [a public key]}\n":                                                        "[service-account]",
		plain + "---\nkind: KubeEtcdEncryptionConfig\nconfig: {resources: [{providers: [{secretbox: {keys: [{name: a}]}}, {identity: {}}]}]}\n":        "[]",
		plain + "---\nkind: KubeEtcdEncryptionConfig\nconfig: {resources: [{providers: [{secretbox: {keys: [{name: a}, {name: b}]}}]}]}\n":             "[encryption-key]",
		plain + "---\nkind: KubeEtcdEncryptionConfig\nconfig: {resources: [{providers: [{aescbc: {keys: [{name: a}]}}, {secretbox: {keys: [b]}}]}]}\n": "[encryption-key]",
		plain + "---\nkind: KubeEtcdEncryptionConfig\nconfig: {resources: {}}\n":                                                                       "[]",
		plain + "acceptedCAs: []\n---\nkind: SomethingElse\naccepted: {publicKeys: [a public key]}\n":                                                  "[]",
	} {
		got, err := Read("nodes/a.yaml", []byte(config))
		if err != nil || fmt.Sprint(got.Rotating()) != want {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	talos, kubernetes := newPair(t, "ed25519"), newPair(t, "ecdsa")
	const canary = "c2VjcmV0LWNhbmFyeQ=="
	for _, tt := range []struct{ name, config, want string }{
		{"worker", oldConfig(pair{Crt: talos.Crt}, pair{Crt: kubernetes.Crt}), "nodes/a.yaml: the certificate authority of the Talos API is not in it, or without its key"},
		{"both at once", oldConfig(pair{Crt: talos.Crt}, pair{Crt: kubernetes.Crt}), "the certificate authority of the Kubernetes API is not in it"},
		{"mixed up", oldConfig(pair{Crt: talos.Crt, Key: newPair(t, "ed25519").Key}, kubernetes), "the Talos API has a key that does not belong to its certificate"},
		{"certificate", oldConfig(pair{Crt: canary, Key: talos.Key}, kubernetes), "has a certificate that cannot be read"},
		{"key", oldConfig(talos, pair{Crt: kubernetes.Crt, Key: canary}), "the Kubernetes API has a key that cannot be read"},
		{"no YAML", "machine: {ca: {key: [" + canary, "nodes/a.yaml: is no machine configuration"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read("nodes/a.yaml", []byte(tt.config))
			if err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Secrets {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), canary) {
				t.Error("the error quotes a secret")
			}
		})
	}
}

func TestSign(t *testing.T) {
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		for _, client := range []KeyType{Ed25519, ECDSA} {
			t.Run(fmt.Sprint(kind, client), func(t *testing.T) {
				a := newAuthority(t, kind)
				id, err := a.Sign(kubernetesAdmin, client, 12*time.Hour, now, rand.Reader)
				if err != nil {
					t.Fatal(err)
				}
				if !id.Expires.Equal(now.Add(12 * time.Hour)) {
					t.Errorf("expires %v", id.Expires)
				}
				// Usable verifies the chain, the key, the subject and the time.
				if _, ok := a.Usable(id.Certificate, []byte(id.Key.Reveal()), kubernetesAdmin, 12*time.Hour, now); !ok {
					t.Error("its own authority does not accept it")
				}
				if _, ok := newAuthority(t, kind).Usable(id.Certificate, []byte(id.Key.Reveal()), kubernetesAdmin, 12*time.Hour, now); ok {
					t.Error("another authority accepts it")
				}
				if strings.Contains(fmt.Sprintf("%v %+v %#v", id, id, a), "PRIVATE") {
					t.Error("a key is printed")
				}
			})
		}
	}
}

func TestSignEndsWithAuthority(t *testing.T) {
	a := newAuthority(t, "ed25519")
	late := a.certificate.NotAfter.Add(-time.Hour)
	id, err := a.Sign(kubernetesAdmin, Ed25519, 12*time.Hour, late, rand.Reader)
	if err != nil || !id.Expires.Equal(a.certificate.NotAfter) {
		t.Errorf("expires %v, %v", id.Expires, err)
	}
	for _, tt := range []struct {
		now  time.Time
		want string
	}{
		{now.AddDate(2, 0, 0), "has expired at 2027-11-21T12:00:00Z"},
		{now.AddDate(-1, 0, 0), "is valid from 2026-11-21T11:00:00Z, and it is 2025-11-21T12:00:00Z"},
	} {
		if _, err := a.Sign(kubernetesAdmin, Ed25519, time.Hour, tt.now, rand.Reader); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestSignWithoutRandomness(t *testing.T) {
	if _, err := newAuthority(t, "ed25519").Sign(kubernetesAdmin, Ed25519, time.Hour, now, bytes.NewReader(nil)); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestUsable(t *testing.T) {
	a := newAuthority(t, "ed25519")
	who := Subject{Groups: []string{"os:admin"}}
	id, err := a.Sign(who, Ed25519, 12*time.Hour, now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := a.Sign(who, Ed25519, 12*time.Hour, now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		key      string
		who      Subject
		lifetime time.Duration
		after    time.Duration
		want     bool
	}{
		{"fresh", id.Key.Reveal(), who, 12 * time.Hour, 0, true},
		{"more than a third left", id.Key.Reveal(), who, 12 * time.Hour, 8*time.Hour - time.Second, true},
		{"a third left", id.Key.Reveal(), who, 12 * time.Hour, 8 * time.Hour, false},
		{"expired", id.Key.Reveal(), who, 12 * time.Hour, 13 * time.Hour, false},
		{"shorter wanted", id.Key.Reveal(), who, time.Hour, 0, false},
		{"other role", id.Key.Reveal(), Subject{Groups: []string{"os:reader"}}, 12 * time.Hour, 0, false},
		{"other user", id.Key.Reveal(), kubernetesAdmin, 12 * time.Hour, 0, false},
		{"other key", other.Key.Reveal(), who, 12 * time.Hour, 0, false},
		{"no key", "", who, 12 * time.Hour, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := a.Usable(id.Certificate, []byte(tt.key), tt.who, tt.lifetime, now.Add(tt.after)); got != tt.want {
				t.Errorf("usable: %v", got)
			}
		})
	}
}
