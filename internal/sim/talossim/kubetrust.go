package talossim

import (
	"crypto/x509"
	"slices"
	"strings"
	"time"
)

// tokenKeys are the keys of service accounts: the one that signs, and the public ones
// that are trusted besides.
type tokenKeys struct {
	signs    string
	accepted []string
}

// kubeClients are the authorities whose clients the Kubernetes API knows.
func (c *config) kubeClients() *x509.CertPool {
	pool := x509.NewCertPool()
	for _, ca := range append([]string{c.kubeCA.Crt + c.kubeCA.Cert}, c.kubeAccepted...) {
		pool.AppendCertsFromPEM(asPEM(ca))
	}
	return pool
}

// sameKubeTrust reports whether Kubernetes knows the same authorities and keys by both,
// whichever contract they are written in.
func (c *config) sameKubeTrust(o *config) bool { return slices.Equal(c.kubeTrust(), o.kubeTrust()) }

// kubeTrust are those authorities and keys, as PEM, the keys of Secrets, and of a control
// plane the bootstrap token.
func (c *config) kubeTrust() (all []string) {
	signs := []string{c.kubeCA.Crt + c.kubeCA.Cert, c.tokens.signs}
	if !c.controlPlane() {
		signs = signs[:1] // and the first of the accepted ones is the one that signs
	}
	for _, text := range slices.Concat(signs, c.kubeAccepted, c.tokens.accepted) {
		if text = strings.TrimSpace(string(asPEM(text))); text != "" {
			all = append(all, text)
		}
	}
	if c.controlPlane() { // it is one of the secrets of Kubernetes, whose version each pod has
		all = append(all, c.main.Cluster.Token)
	}
	return append(all, c.secretKeys...)
}

// trustAgain restarts what reads authorities of Kubernetes when it starts: the kubelet,
// and the static pods of a control plane. Until it is noticed, the API server shows what
// it did.
func (m *Machine) trustAgain(old *config) {
	if old.sameKubeTrust(m.active) {
		return
	}
	names := []string{kubelet}
	if m.controlPlane() {
		names = append(names, staticPods...)
	}
	for _, name := range names {
		m.restart(name, m.program(name).Image, m.active.image(name), m.soon())
	}
	m.after(m.soon(), func() {
		if m.kube != nil {
			m.kube.stop()
		}
		m.kube = nil
	})
}

// knows reports whether the API server trusts the certificate of a client. Each request
// asks, so what was found of a certificate is kept for as long as its chain is valid.
func (i *identity) knows(client *x509.Certificate, now time.Time) bool {
	key := string(client.Raw)
	if known, is := i.known.Load(key); is && known.(span).has(now) {
		return true
	}
	chains, err := client.Verify(x509.VerifyOptions{Roots: i.clients, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, CurrentTime: now})
	if err != nil {
		return false
	}
	i.known.Store(key, spanOf(chains[0]))
	return true
}

// span is a time from one moment to another one.
type span struct{ from, to time.Time }

// has reports whether a moment is in it.
func (s span) has(now time.Time) bool { return !now.Before(s.from) && !now.After(s.to) }

// spanOf is when all certificates of a chain are valid.
func spanOf(chain []*x509.Certificate) span {
	s := span{chain[0].NotBefore, chain[0].NotAfter}
	for _, c := range chain[1:] {
		if c.NotBefore.After(s.from) {
			s.from = c.NotBefore
		}
		if c.NotAfter.Before(s.to) {
			s.to = c.NotAfter
		}
	}
	return s
}
