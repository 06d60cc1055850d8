//go:build linux

package talosenv

import (
	"net"
	"sync"
)

// incoming are connections that clients have opened through the proxy.
type incoming struct {
	connections chan net.Conn
	once        sync.Once
	closed      chan struct{}
}

// take passes a connection on, or closes it if nothing is served any more.
func (l *incoming) take(c net.Conn) {
	select {
	case l.connections <- c:
	case <-l.closed:
		_ = c.Close() // there is nothing left to say
	}
}

// Accept waits for a connection.
func (l *incoming) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends it.
func (l *incoming) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is none that could be connected to.
func (l *incoming) Addr() net.Addr { return &net.TCPAddr{} }
