//go:build linux

package cloudenv

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
)

// calls stands before the API of a project, and keeps what it is sent.
type calls struct {
	to string // the endpoint

	mu     sync.Mutex
	bodies []string
}

// serve returns the endpoint for clients.
func (c *calls) serve(t testing.TB) string {
	t.Helper()

	to, err := url.Parse(c.to)
	if err != nil {
		t.Fatal(err)
	}

	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone away
		}

		if len(body) > 0 {
			c.mu.Lock()
			c.bodies = append(c.bodies, r.Method+" "+r.URL.Path+" "+string(body))
			c.mu.Unlock()
		}

		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)

	return server.URL + to.Path
}

// Bodies are the calls of the API so far that had a body, each with its path.
func (p *Project) Bodies() []string {
	p.calls.mu.Lock()
	defer p.calls.mu.Unlock()

	return slices.Clone(p.calls.bodies)
}
