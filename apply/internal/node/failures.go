package node

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"

	"github.com/talosgen/talosgen/apply/reach"
)

// failures keeps why the last attempt to connect failed: gRPC makes a text of
// it.
type failures struct {
	mu   sync.Mutex
	last error
	own  bool // it has tried since it began
}

// next begins anew. Until it has tried, what is known is what was known.
func (f *failures) next() *failures { return &failures{last: f.cause()} }

func (f *failures) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.own = err, true
}

// failed reports whether it has tried, and failed.
func (f *failures) failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.own && f.last != nil
}

// cause returns why there is no connection; nil if there is one, or if it is not
// known.
func (f *failures) cause() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// dialer connects, and notes what happens.
func (f *failures) dialer(through reach.Transport) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := reach.Connect(ctx, through, address)
		f.note(err)
		return conn, err
	}
}

// credentials do TLS, and note what happens.
func (f *failures) credentials(config *tls.Config) credentials.TransportCredentials {
	return &notedCredentials{credentials.NewTLS(config), f}
}

type notedCredentials struct {
	credentials.TransportCredentials
	failures *failures
}

// ClientHandshake is that of TLS, and waits for the first byte of the node. With
// TLS 1.3 the node judges a client's certificate after the handshake: what it
// says is lost if one goes on writing, and is to be noted.
func (n *notedCredentials) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := n.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		n.failures.note(err)
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	begun := &begunConn{Conn: conn, first: make([]byte, 1)}
	if _, err = io.ReadFull(conn, begun.first); err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		n.failures.note(err)
		return nil, nil, err
	}
	n.failures.note(nil)
	return begun, info, nil
}

// begunConn is a connection of which the first byte was read.
type begunConn struct {
	net.Conn
	first []byte
}

// Read brings that byte first.
func (b *begunConn) Read(p []byte) (int, error) {
	if len(b.first) > 0 && len(p) > 0 {
		n := copy(p, b.first)
		b.first = b.first[n:]
		return n, nil
	}
	return b.Conn.Read(p)
}

// Clone shares the notes.
func (n *notedCredentials) Clone() credentials.TransportCredentials {
	return &notedCredentials{n.TransportCredentials.Clone(), n.failures}
}
