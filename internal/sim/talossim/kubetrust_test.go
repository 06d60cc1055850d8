package talossim

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"
)

// TestKnownClients: an API server knows a client for as long as its certificate and that
// of the authority are valid, be it asked once or again; and none of another authority.
func TestKnownClients(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	client, authority := issued(t, now, 10*time.Hour, 5*time.Hour)
	stranger, _ := issued(t, now, 10*time.Hour, 5*time.Hour)
	long, short := issued(t, now, time.Hour, 5*time.Hour)
	pool := func(c *x509.Certificate) *x509.CertPool {
		p := x509.NewCertPool()
		p.AddCert(c)
		return p
	}
	own, brief := &identity{clients: pool(authority)}, &identity{clients: pool(short)}
	for _, c := range []struct {
		name   string
		server *identity
		client *x509.Certificate
		after  time.Duration
		want   bool
	}{
		{"before it is valid", own, client, -time.Hour, false},
		{"valid", own, client, time.Hour, true},
		{"again", own, client, 2 * time.Hour, true},
		{"a stranger beside it", own, stranger, 2 * time.Hour, false},
		{"it has ended", own, client, 6 * time.Hour, false},
		{"the clock was put back", own, client, 3 * time.Hour, true},
		{"before it, again", own, client, -time.Hour, false},
		{"valid, of an authority that ends", brief, long, 30 * time.Minute, true},
		{"its authority has ended", brief, long, 2 * time.Hour, false},
	} {
		if got := c.server.knows(c.client, now.Add(c.after)); got != c.want {
			t.Errorf("%s: known is %v, want %v", c.name, got, c.want)
		}
	}
}

// issued is the certificate of a client, and that of the authority that has signed it.
func issued(t *testing.T, now time.Time, authorityFor, clientFor time.Duration) (client, authority *x509.Certificate) {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(template, parent *x509.Certificate) *x509.Certificate {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
		if err != nil {
			t.Fatal(err)
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: now, NotAfter: now.Add(authorityFor), IsCA: true, BasicConstraintsValid: true}
	authority = sign(root, root)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: now, NotAfter: now.Add(clientFor), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	return sign(leaf, authority), authority
}
