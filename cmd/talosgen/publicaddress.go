package main

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// addressServices say, in one line, the address that a request comes from. They
// are asked only by commands that compare it with a firewall, over HTTPS, and
// with nothing in the request.
var addressServices = []string{"https://ipv4.icanhazip.com", "https://ipv6.icanhazip.com"}

// publicAddress asks the internet for the addresses of this machine.
type publicAddress struct{ http http.RoundTripper }

// find finds the public addresses of this machine. What cannot be found
// is left out: many have no IPv6.
func (p publicAddress) find(ctx context.Context) (own []netip.Addr) {
	const atMost = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for _, service := range addressServices {
		if addr, ok := p.ask(ctx, service); ok {
			own = append(own, addr)
		}
	}
	return own
}

func (p publicAddress) ask(ctx context.Context, service string) (netip.Addr, bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, service, nil)
	if err != nil {
		return netip.Addr{}, false
	}
	resp, err := p.http.RoundTrip(req)
	if err != nil {
		return netip.Addr{}, false
	}
	defer resp.Body.Close()
	const longest = 64 // no address is longer
	text, err := io.ReadAll(io.LimitReader(resp.Body, longest))
	if err != nil || resp.StatusCode != http.StatusOK {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(strings.TrimSpace(string(text)))
	return addr, err == nil && addr.IsGlobalUnicast() && !addr.IsPrivate()
}
