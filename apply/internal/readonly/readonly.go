// Package readonly is the guard of those who only look: it stands between a client of
// an API over HTTP and its connections, and passes on nothing that may change
// something, whatever the client was made to do.
package readonly

import (
	"net/http"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// Transport passes on requests that read, and refuses all others without sending
// anything.
type Transport struct{ Next http.RoundTripper }

// ways lead to programs that may do anything when they are asked for something.
var ways = []string{"exec", "attach", "portforward", "proxy"}

// RoundTrip sends a request, if it reads.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if reads(r) {
		return t.Next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // nobody reads it
	}
	return nil, diag.On(r.Method+" "+r.URL.Path, "may change something, and this only reads: nothing was sent")
}

// reads reports whether a request changes nothing.
func reads(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Upgrade") != "" {
		return false
	}
	return !slices.ContainsFunc(strings.Split(r.URL.Path, "/"), func(part string) bool { return slices.Contains(ways, part) })
}

// CloseIdleConnections ends the connections that nobody uses.
func (t Transport) CloseIdleConnections() { (&http.Client{Transport: t.Next}).CloseIdleConnections() }
