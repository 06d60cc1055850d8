//go:build linux

package talosenv

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/netip"
	"time"
)

// certificates are those of the cluster's authority that stand for a node, as clients see
// it, and for an administrator, as the node sees one; and whom both trust.
func certificates(machineConfig []byte, node netip.Addr) (server, client tls.Certificate, trusted *x509.CertPool, err error) {
	by, err := authorityIn(machineConfig)
	if err != nil {
		return server, client, nil, err
	}

	template := administrator(time.Now())
	if client, err = by.pair(template); err != nil {
		return server, client, nil, err
	}

	template.Subject, template.IPAddresses = pkix.Name{CommonName: node.String()}, []net.IP{node.AsSlice()}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}

	if server, err = by.pair(template); err != nil {
		return server, client, nil, err
	}

	parent, err := by.certificate()
	if err != nil {
		return server, client, nil, err
	}

	trusted = x509.NewCertPool()
	trusted.AddCert(parent)

	return server, client, trusted, nil
}

// pair is a certificate with its key, for TLS.
func (a authority) pair(template *x509.Certificate) (tls.Certificate, error) {
	certificate, key, err := a.sign(template)
	if err != nil {
		return tls.Certificate{}, err
	}

	return tls.X509KeyPair(certificate, key)
}
