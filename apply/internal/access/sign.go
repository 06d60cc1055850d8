package access

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
)

// Subject is who a certificate says that its holder is: for Talos the roles,
// for Kubernetes a user and its groups.
type Subject struct {
	User   string   // may be empty
	Groups []string // roles of Talos, groups of Kubernetes
}

// is reports whether a certificate is for somebody. Their groups have no order.
func (s Subject) is(name pkix.Name) bool {
	return name.CommonName == s.User &&
		slices.Equal(slices.Sorted(slices.Values(name.Organization)), slices.Sorted(slices.Values(s.Groups)))
}

// The subjects of an administrator, as Talos makes them too.
var kubernetesAdmin = Subject{User: "admin", Groups: []string{Masters}}

// Identity is a client certificate with its key.
type Identity struct {
	Certificate []byte // PEM
	Key         secret.String
	Expires     time.Time
}

// KeyType is the kind of key that an identity gets.
type KeyType int

// Ed25519 is what Talos uses for its own API. ECDSA on P-256 is what Talos uses
// for Kubernetes: clients in every language can do it.
const (
	Ed25519 KeyType = iota
	ECDSA
)

// early is how long before now a certificate begins to be valid: the clock of a
// node may be slow.
const early = 5 * time.Minute

// Sign makes a key, and a certificate for it that is valid for the lifetime from
// now on, but never longer than the authority itself.
func (a *Authority) Sign(who Subject, kind KeyType, lifetime time.Duration, now time.Time, random io.Reader) (Identity, error) {
	if err := a.CheckTime(now); err != nil {
		return Identity{}, err
	}
	key, err := newKey(kind, random)
	if err != nil {
		return Identity{}, fmt.Errorf("make a key: %w", err)
	}
	serial := make([]byte, 16)
	if _, err := io.ReadFull(random, serial); err != nil {
		return Identity{}, fmt.Errorf("make a serial number: %w", err)
	}
	serial[0] &= 0x7f // positive, and so never longer than X.509 allows
	expires := now.Add(lifetime)
	if expires.After(a.certificate.NotAfter) {
		expires = a.certificate.NotAfter
	}
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial),
		Subject:      pkix.Name{CommonName: who.User, Organization: who.Groups},
		NotBefore:    now.Add(-early),
		NotAfter:     expires,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(random, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Identity{}, a.problem("cannot sign: %v", err).WithCause(err)
	}
	text, err := encodeKey(kind, key)
	return Identity{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         text, Expires: expires.Truncate(time.Second),
	}, err
}

// Admin signs an administrator of Kubernetes, as [Authority.Sign] does.
func (a *Authority) Admin(lifetime time.Duration, now time.Time, random io.Reader) (Identity, error) {
	return a.Sign(kubernetesAdmin, ECDSA, lifetime, now, random)
}

// CheckTime refuses an authority that is not valid now: nobody would accept what
// it signs.
func (a *Authority) CheckTime(now time.Time) error {
	switch c := a.certificate; {
	case now.After(c.NotAfter):
		return a.problem("has expired at %s", utc(c.NotAfter)).
			WithHint("the cluster needs a new one: see Talos' documentation on rotating certificate authorities")
	case now.Before(c.NotBefore):
		return a.problem("is valid from %s, and it is %s", utc(c.NotBefore), utc(now)).
			WithHint("is the clock of this machine right?")
	}
	return nil
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func newKey(kind KeyType, random io.Reader) (crypto.Signer, error) {
	if kind == ECDSA {
		return ecdsa.GenerateKey(elliptic.P256(), random)
	}
	_, key, err := ed25519.GenerateKey(random)
	return key, err
}

// encodeKey gives a key the form in which Talos writes keys of that kind. What
// it calls an Ed25519 key is PKCS #8.
func encodeKey(kind KeyType, key crypto.Signer) (secret.String, error) {
	block := &pem.Block{Type: "ED25519 PRIVATE KEY"}
	var err error
	if ec, ok := key.(*ecdsa.PrivateKey); ok && kind == ECDSA {
		block.Type = "EC PRIVATE KEY"
		block.Bytes, err = x509.MarshalECPrivateKey(ec)
	} else {
		block.Bytes, err = x509.MarshalPKCS8PrivateKey(key)
	}
	if err != nil {
		return secret.String{}, err
	}
	return secret.New(string(pem.EncodeToMemory(block))), nil
}

// Usable returns an identity that exists already, if it is as good as a new one:
// signed by the authority for the same subject, with the key that belongs to it,
// valid for more than a third of the lifetime, and for no longer than it.
func (a *Authority) Usable(certificate, key []byte, who Subject, lifetime time.Duration, now time.Time) (Identity, bool) {
	both, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return Identity{}, false
	}
	leaf := both.Leaf
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	if _, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return Identity{}, false
	}
	left := leaf.NotAfter.Sub(now)
	good := who.is(leaf.Subject) && left > lifetime/3 && left <= lifetime
	return Identity{Certificate: bytes.Clone(certificate), Key: secret.New(string(key)), Expires: leaf.NotAfter}, good
}
