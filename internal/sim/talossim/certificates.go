package talossim

import (
	"crypto"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"slices"
	"sync"
	"time"
)

// identity is what a machine shows to clients, and whom it lets in.
type identity struct {
	certificate tls.Certificate
	clients     *x509.CertPool // nil: everybody
	anonymous   bool           // clients need no certificate, and who reads it judges it
	secretKeys  []string       // of an API server: what Secrets are encrypted with
	known       sync.Map       // of an API server: when certificates of clients are valid, by their bytes
}

// config is how a server with it talks TLS.
func (i *identity) config(now func() time.Time, protocols ...string) *tls.Config {
	c := &tls.Config{Certificates: []tls.Certificate{i.certificate}, Time: now, MinVersion: tls.VersionTLS13, NextProtos: protocols,
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256}} // who connects may offer more, which takes longer
	if i.clients != nil {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, i.clients
	}
	if i.anonymous {
		c.ClientAuth = tls.RequestClientCert
	}
	return c
}

// valid is how long certificates of machines are valid: a day, as in Talos, and
// more, because nothing here renews them.
const valid = 10 * 365 * 24 * time.Hour

// early is how long before now they begin to be.
const early = time.Hour

// selfSigned is what a machine shows in maintenance mode.
func (m *Machine) selfSigned() (*identity, error) {
	key, err := m.newKey()
	if err != nil {
		return nil, err
	}
	t := m.template()
	return m.sign(t, t, key, key)
}

// certified is what a machine shows that has a configuration: a certificate that
// the authority in it has signed. Workers do not have its key, and get the
// certificate from a control plane: without one they have none.
func (m *Machine) certified() (*identity, error) {
	by, err := m.certifier()
	if err != nil {
		return nil, err
	}
	authority, key, err := by.CA.parse()
	if err != nil {
		return nil, err
	}
	own, err := m.newKey()
	if err != nil {
		return nil, err
	}
	t := m.template()
	for _, name := range append(slices.Clone(m.active.main.Machine.CertSANs), m.active.hostname) {
		addName(t, name)
	}
	id, err := m.sign(t, authority, own, key)
	if err != nil {
		return nil, err
	}
	return id, by.acceptClients(id)
}

// acceptClients lets in whom the control plane trusts that signs, as it does at that
// moment: a worker learns from it whom to trust, and not from its own configuration.
func (t *talosTrust) acceptClients(id *identity) error {
	id.clients = x509.NewCertPool()
	for _, ca := range t.all() {
		if !id.clients.AppendCertsFromPEM(asPEM(ca.Crt)) {
			return errors.New("an authority in the configuration is not PEM")
		}
	}
	return nil
}

// certifyAgain gives a machine another certificate if its authorities are others,
// as Talos does: a worker asks for it then, and not when those of control planes
// change. What was asked over connections that there are is answered.
func (m *Machine) certifyAgain(old *config) {
	was, is := old.main.Machine, m.active.main.Machine
	same := was.CA == is.CA && slices.Equal(was.Accepted, is.Accepted)
	if same && (m.controlPlane() || was.Token == is.Token) {
		return
	}
	id, err := m.certified()
	if same && err != nil {
		return // what it has is good for a day, in which it asks again and again
	}
	if m.server != nil {
		m.server.stop()
	}
	m.server, m.certs = nil, nil
	if err == nil {
		m.certs = id
	}
}

var errNoControlPlane = errors.New("no control plane signs a certificate")

// talosTrust is whom a machine trusts at the Talos API: who signs, and others.
type talosTrust struct {
	CA       pair
	Accepted []pair
}

func (t *talosTrust) all() []pair { return append([]pair{t.CA}, t.Accepted...) }

// trusts reports whether it trusts what another one signs.
func (t *talosTrust) trusts(other *talosTrust) bool {
	return slices.ContainsFunc(t.all(), func(p pair) bool { return p.Crt == other.CA.Crt })
}

// same reports whether both trust the same.
func (t *talosTrust) same(other *talosTrust) bool {
	known := func(p pair) bool {
		return slices.ContainsFunc(other.all(), func(o pair) bool { return o.Crt == p.Crt })
	}
	return len(t.all()) == len(other.all()) && !slices.ContainsFunc(t.all(), func(p pair) bool { return !known(p) })
}

// talosTrust is that of the configuration.
func (c *config) talosTrust() *talosTrust {
	return &talosTrust{c.main.Machine.CA, c.main.Machine.Accepted}
}

// certifier is who signs the certificate of a machine: a control plane itself, and for a
// worker one of the control planes, which may be any. Here it is one that trusts others
// than the worker, if there is one.
func (m *Machine) certifier() (*talosTrust, error) {
	own := m.active.talosTrust()
	if own.CA.Key != "" {
		return own, nil
	}
	var found *talosTrust
	for _, o := range m.fleet.machines {
		signs := o.controlPlane() && o.active.cluster() == m.active.cluster() && o.active.main.Machine.Token == m.active.main.Machine.Token && o.reached() && !o.apiAt.After(o.fleet.now)
		if !signs || !own.trusts(o.active.talosTrust()) {
			continue
		}
		if by := o.active.talosTrust(); found == nil || !by.same(own) {
			found = by
		}
	}
	if found == nil {
		return nil, errNoControlPlane
	}
	return found, nil
}

// parse reads an authority with its key.
func (p pair) parse() (*x509.Certificate, crypto.Signer, error) {
	block, _ := pem.Decode(asPEM(p.Crt + p.Cert))
	keyBlock, _ := pem.Decode(asPEM(p.Key))
	if block == nil || keyBlock == nil {
		return nil, nil, errors.New("the authority in the configuration is not PEM")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, nil, err
	}
	key, err := parseKey(keyBlock.Bytes)
	return certificate, key, err
}

func parseKey(der []byte) (crypto.Signer, error) {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		if signer, ok := key.(crypto.Signer); ok {
			return signer, nil
		}
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key, nil
	}
	return x509.ParsePKCS1PrivateKey(der)
}

func (m *Machine) newKey() (crypto.Signer, error) {
	_, key, err := ed25519.GenerateKey(m.fleet.random)
	return key, err
}

// template is a certificate for the addresses of the machine.
func (m *Machine) template() *x509.Certificate {
	t := &x509.Certificate{
		SerialNumber: new(big.Int).SetUint64(m.fleet.newNumber("serial")),
		Subject:      pkix.Name{CommonName: m.spec.Name},
		NotBefore:    m.fleet.now.Add(-early), NotAfter: m.fleet.now.Add(valid),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, a := range append(slices.Clone(m.spec.Public), m.spec.Private...) {
		addName(t, a)
	}
	return t
}

// addName lets a certificate hold an address, or a name.
func addName(t *x509.Certificate, name string) {
	if ip := net.ParseIP(name); ip != nil {
		t.IPAddresses = append(t.IPAddresses, ip)
	} else if name != "" {
		t.DNSNames = append(t.DNSNames, name)
	}
}

// sign makes a certificate. Whoever has signed it signs those of clients too,
// unless it is the machine itself.
func (m *Machine) sign(template, parent *x509.Certificate, key, by crypto.Signer) (*identity, error) {
	der, err := x509.CreateCertificate(m.fleet.random, template, parent, key.Public(), by)
	if err != nil {
		return nil, err
	}
	id := &identity{certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}
	if parent != template {
		id.clients = x509.NewCertPool()
		id.clients.AddCert(parent)
	}
	return id, nil
}
