package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// TestThroughProxy: what is sent comes back, the first bytes included, which a
// server may send before it was spoken to.
func TestThroughProxy(t *testing.T) {
	ours, theirs := net.Pipe()
	go func() {
		_, _ = io.WriteString(theirs, "hello ")
		_, _ = io.CopyN(theirs, theirs, 4)
		_ = theirs.Close()
	}()
	server := httptest.NewServer(proxied(http.NotFoundHandler(), func(_ context.Context, address string) (net.Conn, error) {
		if address != "198.18.0.1:22" {
			return nil, errors.New("no such server")
		}
		return ours, nil
	}))
	defer server.Close()
	vars := func(name string) (string, bool) { return server.URL, name == proxyVariable }
	dial, err := serverDialer(vars, secret.NewMasker())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := dial(t.Context(), "198.18.0.1:22")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "echo"); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(conn); err != nil || string(said) != "hello echo" {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := dial(t.Context(), "198.18.0.2:22"); err == nil || !strings.Contains(err.Error(), "502 Bad Gateway") {
		t.Errorf("error %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ended, "198.18.0.1:22"); err == nil {
		t.Error("it connected after the end")
	}
}

// TestProxyVariable: the error names the variable, and the password of a proxy
// is a secret.
func TestProxyVariable(t *testing.T) {
	for text, fits := range map[string]bool{
		"": true, "http://127.0.0.1:3128": true, "https://me:qzxkanarivogl95@127.0.0.1": true, "socks5://me:qzxkanarivogl95@127.0.0.1": false, "127.0.0.1:3128": false,
	} {
		masker := secret.NewMasker()
		_, err := serverDialer(func(string) (string, bool) { return text, true }, masker)
		if (err == nil) != fits || err != nil && (diag.CodeOf(err) != diag.Usage || !strings.HasPrefix(err.Error(), "$TALOSGEN_PROXY: ")) {
			t.Errorf("%q: %v", text, err)
		}
		if strings.Contains(masker.String(text), "qzxkanarivogl95") {
			t.Errorf("%q: the masker does not know the password", text)
		}
	}
}
