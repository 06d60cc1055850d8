package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/talosgen/talosgen/apply/preflight"
)

// lookup finds the addresses of a name, as [net.Resolver.LookupHost] does.
type lookup func(ctx context.Context, name string) ([]string, error)

// lookupWithin is how long a name may take: a file is written without it.
const lookupWithin = 3 * time.Second

// leadsNowhere says that a URL has a name without an address; empty: it has one, or that
// is not known.
func (l lookup) leadsNowhere(ctx context.Context, server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	name := u.Hostname()
	if _, err := netip.ParseAddr(name); err == nil {
		return ""
	}
	if preflight.Placeholder(name) {
		return name + " is a name of an example, and leads nowhere: set kubernetes.apiHostname in cluster.yaml, or give an address with --server"
	}
	if l == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWithin)
	defer cancel()
	var unknown *net.DNSError
	if _, err := l(ctx, name); errors.As(err, &unknown) && unknown.IsNotFound {
		return name + " has no address in DNS: add a record for it, or give an address with --server"
	}
	return ""
}
