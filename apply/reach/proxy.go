package reach

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"

	"github.com/talosgen/talosgen/internal/diag"
)

// Proxy connects through an HTTP proxy, with CONNECT.
type Proxy struct {
	url     *url.URL
	through Transport
	tls     *tls.Config // nil for a proxy without TLS
}

// NewProxy prepares to go through the proxy at a URL, http or https, which may
// hold a user and a password. config is for its TLS; nil trusts what the system does.
func NewProxy(text string, config *tls.Config, through Transport) (*Proxy, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, diag.On("--proxy", "not the URL of an HTTP proxy").WithHint("such as http://proxy.example.com:3128").WithCode(diag.Usage)
	}
	p := &Proxy{url: u, through: through}
	if u.Scheme == "https" {
		p.tls = config.Clone()
		if p.tls == nil {
			p.tls = &tls.Config{}
		}
		p.tls.ServerName = u.Hostname()
	}
	return p, nil
}

// String is the URL without the password.
func (p *Proxy) String() string { return "proxy " + p.url.Redacted() }

// address is host:port, with the usual port if the URL has none.
func (p *Proxy) address() string {
	port := p.url.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[p.url.Scheme]
	}
	return net.JoinHostPort(p.url.Hostname(), port)
}

// Dial connects through the proxy.
func (p *Proxy) Dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := p.through.Dial(ctx, p.address())
	if err != nil {
		return nil, diag.On(p.String(), "the way to the nodes leads through it: %s", plain(err)).WithCode(diag.Remote).WithCause(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	tunnel, err := p.open(ctx, conn, address)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = silentThrough(address, p.String(), ctx.Err())
		}
		return nil, err
	}
	return tunnel, nil
}

// open asks the proxy for a tunnel.
func (p *Proxy) open(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	if p.tls != nil {
		secured := tls.Client(conn, p.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, p.failed(address, "TLS: "+err.Error(), err)
		}
		conn = secured
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if user := p.url.User; user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := request.Write(conn); err != nil {
		return nil, p.failed(address, err.Error(), err)
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, request)
	if err != nil {
		return nil, p.failed(address, "no answer in HTTP", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, p.failed(address, "the proxy says "+response.Status, nil)
	}
	// The proxy may have sent what came from the node along with its answer.
	return &buffered{Conn: conn, reader: reader}, nil
}

func (p *Proxy) failed(address, why string, err error) error {
	return diag.On(address, "cannot be reached through %s: %s", p, why).WithCode(diag.Remote).WithCause(err)
}

// buffered is a connection some of which was read already.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

// Read reads what is left of that first.
func (b *buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }

// ServerDialer connects to servers, through the HTTP proxy at a URL if that is
// not empty.
func ServerDialer(proxy string) (func(ctx context.Context, address string) (net.Conn, error), error) {
	if proxy == "" {
		return Direct{}.Dial, nil
	}
	p, err := NewProxy(proxy, nil, Direct{})
	if err != nil {
		return nil, err
	}
	return p.Dial, nil
}
