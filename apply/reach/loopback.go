package reach

import (
	"net/netip"
	"net/url"
)

// OnLoopback reports whether a URL is of this machine alone.
func OnLoopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.IsLoopback()
}
