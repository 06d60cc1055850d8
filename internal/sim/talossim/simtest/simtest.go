// Package simtest makes, for tests, what a cluster of simulated nodes needs: its
// authorities, small machine configurations, client certificates.
package simtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"
)

// Cluster is a cluster to be: its authorities, valid for a hundred years around
// 2026.
type Cluster struct {
	t          testing.TB
	name       string
	talos      authority
	kubernetes authority
	etcd       authority
	other      authority // of Kubernetes, in a rotation
	turned     bool      // it was the one that signed
	id         string    // empty: what tells it from others is the authority of the Talos API
	token      string    // of machines
	join       string    // the bootstrap token; empty: none
	secretKeys []string  // names of the keys of Secrets; none: as before Talos 1.14

	// As other and turned, of the Talos API, and what was forgotten.
	otherTalos  authority
	turnedTalos bool
	forgotten   []authority

	// Of service accounts, the one that signs first; none: as before Talos 1.14.
	tokenKeys    []ed25519.PrivateKey
	keysOfTokens map[string]ed25519.PrivateKey // all that there were, by name
}

type authority struct {
	certificate *x509.Certificate
	key         ed25519.PrivateKey
}

// NewCluster makes the authorities of a cluster.
func NewCluster(t testing.TB, name string) *Cluster {
	t.Helper()
	return &Cluster{t: t, name: name, token: "aaaaaa.bbbbbbbbbbbbbbbb", talos: newAuthority(t, "talos"), kubernetes: newAuthority(t, "kubernetes"), etcd: newAuthority(t, "etcd")}
}

var begin = time.Date(1976, 1, 1, 0, 0, 0, 0, time.UTC)

func newAuthority(t testing.TB, organization string) authority {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{organization}}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, NotBefore: begin, NotAfter: begin.AddDate(100, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

func (a authority) certificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// pair is how machine configurations hold an authority.
func (a authority) pair(t testing.TB, key bool) string {
	t.Helper()
	text := "{crt: " + base64.StdEncoding.EncodeToString(a.certificatePEM())
	if key {
		text += ", key: " + base64.StdEncoding.EncodeToString(keyPEM(t, a.key))
	}
	return text + "}"
}

func keyPEM(t testing.TB, key ed25519.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Authority returns the certificates of the machine authorities that are trusted, PEM.
func (c *Cluster) Authority() []byte { return both(c.talos, c.otherTalos) }

// ControlPlane returns the configuration of a control plane. What follows the
// name are more lines for its machine section, indented by two spaces.
func (c *Cluster) ControlPlane(hostname string, more ...string) string {
	text := c.config("controlplane", hostname, true, more)
	return text + fmt.Sprintf("cluster:\n%s  clusterName: %s\n%s  controlPlane: {endpoint: \"https://10.0.0.10:6443\"}\n%s  ca: %s\n  etcd: {ca: %s}\n%s%s",
		c.identity(), c.name, c.joins(), c.firstSecretKey(), c.kubernetes.pair(c.t, true), c.etcd.pair(c.t, true), accepts(c.other), c.encryption()+c.serviceAccounts())
}

// Worker returns the configuration of a worker.
func (c *Cluster) Worker(hostname string, more ...string) string {
	return c.config("worker", hostname, false, more) + fmt.Sprintf("cluster:\n%s  clusterName: %s\n%s  controlPlane: {endpoint: \"https://10.0.0.10:6443\"}\n  ca: %s\n%s",
		c.identity(), c.name, c.joins(), c.kubernetes.pair(c.t, false), accepts(c.other))
}

func (c *Cluster) config(role, hostname string, key bool, more []string) string {
	text := fmt.Sprintf("version: v1alpha1\nmachine:\n  type: %s\n  token: %s\n  ca: %s\n%s  network: {hostname: %s}\n  install: {disk: /dev/sda}\n",
		role, c.token, c.talos.pair(c.t, key), accepts(c.otherTalos), hostname)
	for _, line := range more {
		text += line + "\n"
	}
	return text
}

// Sign returns a client certificate and its key, PEM, for roles such as
// os:admin, valid for an hour from a time on.
func (c *Cluster) Sign(from time.Time, roles ...string) (certificate, key []byte) {
	return c.talos.sign(c.t, from, pkix.Name{Organization: roles})
}

// SignKubernetes is [Cluster.Sign] for the Kubernetes API: a user and its groups.
func (c *Cluster) SignKubernetes(from time.Time, user string, groups ...string) (certificate, key []byte) {
	return c.kubernetes.sign(c.t, from, pkix.Name{CommonName: user, Organization: groups})
}

// KubernetesAuthority returns the certificate of the authority of the Kubernetes
// API, PEM.
func (c *Cluster) KubernetesAuthority() []byte { return c.kubernetes.certificatePEM() }

func (a authority) sign(t testing.TB, from time.Time, subject pkix.Name) (certificate, key []byte) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: subject, NotBefore: from, NotAfter: from.Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.certificate, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM(t, private)
}
