package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
)

// TestLeadsNowhere: who gets a kubeconfig is told of a name that leads nowhere, and of
// nothing that is not known.
func TestLeadsNowhere(t *testing.T) {
	var resolver lookup = func(_ context.Context, name string) ([]string, error) {
		switch name {
		case "api.acme.dev":
			return []string{"198.18.0.1"}, nil
		case "new.acme.dev":
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		case "slow.acme.dev":
			return nil, &net.DNSError{Err: "i/o timeout", Name: name, IsTimeout: true}
		}
		return nil, errors.New("looked up " + name)
	}
	for _, c := range []struct{ server, want string }{
		{"https://api.acme.dev:6443", ""},
		{"https://new.acme.dev:6443", "new.acme.dev has no address in DNS"},
		{"https://slow.acme.dev:6443", ""},
		{"https://192.168.10.10:6443", ""},
		{"https://[2001:db8::1]:6443", ""},
		{"https://api.dev.example.com:6443", "api.dev.example.com is a name of an example"},
		{"https://localhost:6443", ""},
		{"%", ""},
	} {
		if got := resolver.leadsNowhere(t.Context(), c.server); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.server, got, c.want)
		}
	}
	if got := lookup(nil).leadsNowhere(t.Context(), "https://new.acme.dev:6443"); got != "" {
		t.Error(got)
	}
}
