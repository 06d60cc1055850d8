package apply

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/internal/access"
)

const (
	// talosPort is where nodes serve the Talos API.
	talosPort = "50000"
	// shownWithin is how long a node may take to show a certificate.
	shownWithin = 5 * time.Second
	// showing is how many are looked at at once.
	showing = 16
	// expireSoon is how long a certificate should be valid at least, and
	// soonShare the part of its life: Talos renews those of nodes when half of it
	// is over, and those of its own API live a day.
	expireSoon = 30 * 24 * time.Hour
	soonShare  = 4
)

// CertificateStatus is until when a certificate is valid.
type CertificateStatus struct {
	Name    string    `json:"name"`
	Begins  time.Time `json:"begins"`
	Expires time.Time `json:"expires"`
	// Why it could not be looked at; then there are no times.
	Problem string `json:"problem,omitempty"`

	renews bool // by itself
}

// soon reports whether it is to be renewed, or should have been.
func (c CertificateStatus) soon(now time.Time) bool {
	enough := expireSoon
	if c.renews {
		enough = min(enough, c.Expires.Sub(c.Begins)/soonShare)
	}
	return c.Expires.Sub(now) < enough
}

func certificateOf(name string, c *x509.Certificate, renews bool) CertificateStatus {
	return CertificateStatus{Name: name, Begins: c.NotBefore, Expires: c.NotAfter, renews: renews}
}

// shownBy is the certificate that a server shows, if an authority has signed it.
// That it may have expired is for the caller to say; nothing is sent to the
// server.
func shownBy(ctx context.Context, dial image.Dialer, address string, by *access.Authority) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, shownWithin)
	defer cancel()
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // checked below
	if err := client.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	leaf := client.ConnectionState().PeerCertificates[0]
	if !by.Certified(leaf) {
		return nil, errors.New("shows a certificate of another authority than that of the tree")
	}
	return leaf, nil
}
