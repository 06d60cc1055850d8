package apply

import (
	"context"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Authorities are to be valid for a month; what Talos renews by itself, for a
// quarter of its life.
func TestCertificatesSoon(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name       string
		life, left time.Duration
		renews     bool
		want       bool
	}{
		{"an authority of ten years", 3650 * day, 31 * day, false, false},
		{"its last month", 3650 * day, 29 * day, false, true},
		{"an authority of a day", day, day, false, true},
		{"the API server, before it is renewed", 365 * day, 200 * day, true, false},
		{"nobody renewed it", 365 * day, 20 * day, true, true},
		{"the Talos API lives a day", day, 12 * time.Hour, true, false},
		{"nobody renewed that", day, 5 * time.Hour, true, true},
		{"over", day, -time.Hour, true, true},
	} {
		c := CertificateStatus{Begins: now.Add(test.left - test.life), Expires: now.Add(test.left), renews: test.renews}
		if got := c.soon(now); got != test.want {
			t.Errorf("%s: soon %t, want %t", test.name, got, test.want)
		}
	}
}

// A certificate that somebody else signed is none of the cluster's, and a server
// that cannot be asked is not one without a certificate.
func TestShownBy(t *testing.T) {
	authorities, err := shipped(t, "dev").authorities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stranger := httptest.NewTLSServer(nil)
	defer stranger.Close()
	quiet := httptest.NewUnstartedServer(nil)
	defer quiet.Close()
	quiet.Listener.Close()
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	for address, want := range map[string]string{
		stranger.Listener.Addr().String(): "another authority than that of the tree",
		quiet.Listener.Addr().String():    "connection refused",
	} {
		if leaf, err := shownBy(t.Context(), dial, address, authorities.Talos); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v (%v), want %q", address, leaf, err, want)
		}
	}
	s := Status{Objects: &kubeplan.Plan{}, Certificates: []CertificateStatus{{Name: "Talos API of a", Problem: "nobody answers"}}}
	s.differences(time.Now(), nil)
	if text := s.String(); !strings.Contains(text, "Talos API of a  not known") || !strings.Contains(text, "the certificate of the Talos API of a cannot be read: nobody answers") {
		t.Errorf("it prints\n%s", text)
	}
}
