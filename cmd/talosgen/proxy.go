package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

// proxyVariable names an HTTP proxy by which servers are reached.
const proxyVariable = "TALOSGEN_PROXY"

// serverDialer is how servers are reached: directly, or through the proxy that
// the environment names.
func (w *world) serverDialer() (apply.Dialer, error) {
	text, _ := w.lookup(proxyVariable)
	if text == "" {
		return new(net.Dialer).DialContext, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, diag.On("$"+proxyVariable, "not the URL of an HTTP proxy").
			WithHint("such as http://127.0.0.1:3128, or what `talosgen sim` prints").WithCode(diag.Usage)
	}
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		return throughProxy(ctx, u.Host, address)
	}, nil
}

// throughProxy lets a proxy connect to an address.
func throughProxy(ctx context.Context, proxy, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", proxy)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	c, err := askProxy(conn, address)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func askProxy(conn net.Conn, address string) (net.Conn, error) {
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", address); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the proxy cannot connect to %s: %s", address, resp.Status)
	}
	return &bufferedConn{conn, reader}, nil
}

// bufferedConn is a connection of which something may have been read already.
type bufferedConn struct {
	net.Conn
	reader io.Reader
}

// Read reads from what was read already, and then from the connection.
func (c *bufferedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// proxied answers the method CONNECT by connecting with dial, and leaves the
// rest to a handler.
func proxied(next http.Handler, dial apply.Dialer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			next.ServeHTTP(w, r)
			return
		}
		there, err := dial(r.Context(), "tcp", r.Host)
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
		pump(&bufferedConn{here, buffered}, there)
	})
}

// pump passes on what both sides send, until one of them ends.
func pump(a, b net.Conn) {
	ended := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // how it ended is their affair
		ended <- struct{}{}
	}
	go pass(a, b)
	go pass(b, a)
	<-ended
}
