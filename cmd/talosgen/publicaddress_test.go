package main

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// answers is the internet: what hosts say.
type answers map[string]string

// RoundTrip answers, if the host is known.
func (a answers) RoundTrip(req *http.Request) (*http.Response, error) {
	text, ok := a[req.URL.Host]
	if !ok {
		return nil, errors.New("no route to host")
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func TestOwnAddresses(t *testing.T) {
	addr := netip.MustParseAddr
	for name, tt := range map[string]struct {
		net  answers
		want []netip.Addr
	}{
		"both":       {answers{"ipv4.icanhazip.com": "203.0.113.7\n", "ipv6.icanhazip.com": "2001:db8::7\n"}, []netip.Addr{addr("203.0.113.7"), addr("2001:db8::7")}},
		"IPv4 alone": {answers{"ipv4.icanhazip.com": "203.0.113.7"}, []netip.Addr{addr("203.0.113.7")}},
		"none":       {answers{}, nil},
		"a page":     {answers{"ipv4.icanhazip.com": "<html>please log in"}, nil},
		"private":    {answers{"ipv4.icanhazip.com": "192.168.1.1"}, nil},
	} {
		if got := (publicAddress{tt.net}).find(t.Context()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
