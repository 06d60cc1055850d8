package main

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/jumphost"
)

// proxyVariable names an HTTP proxy by which servers are reached.
const proxyVariable = "TALOSGEN_PROXY"

// serverDialer is how servers are reached: directly, or through the proxy that
// the environment names.
func serverDialer(vars environ, masker *secret.Masker) (image.Dialer, error) {
	text := vars.get(proxyVariable)
	if u, err := url.Parse(text); err == nil && u.User != nil {
		password, _ := u.User.Password()
		masker.Add(secret.New(password))
	}
	dial, err := reach.ServerDialer(text)
	var problem *diag.Problem
	if errors.As(err, &problem) {
		problem.Object = "$" + proxyVariable
	}
	return dial, err
}

// proxied answers the method CONNECT by connecting with dial, and leaves the
// rest to a handler.
func proxied(next http.Handler, dial image.Dialer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			next.ServeHTTP(w, r)
			return
		}
		there, err := dial(r.Context(), r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer here.Close()
		if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return // the client has gone away
		}
		jumphost.Pass(struct {
			io.Reader // some of it was read already
			io.Writer
		}{buffered, here}, there)
	})
}
