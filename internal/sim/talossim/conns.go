package talossim

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// counted is a listener that knows its connections, to break them.
type counted struct {
	net.Listener

	mu    sync.Mutex
	conns []net.Conn
}

// Accept waits for the next connection.
func (c *counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

// breakAll breaks the connections at once. A client that goes on calling over
// one of an earlier boot must notice, before much simulated time has passed.
func (c *counted) breakAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

// patient is a listener whose connections can be read after a deadline, also
// through TLS, which takes any other error for the end. An HTTP server lets a
// deadline pass after each request, and takes it back.
type patient struct{ net.Listener }

// Accept waits for the next connection.
func (p patient) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &patientConn{Conn: conn}, nil
}

type patientConn struct {
	net.Conn

	mu       sync.Mutex
	deadline time.Time // of reading
	asked    bool      // whether it was asked again since it was set
}

// Read says of a deadline what connections of the kernel say. The connection in
// memory can report one that was taken back meanwhile: that is no reason to stop.
func (p *patientConn) Read(b []byte) (int, error) {
	for {
		n, err := p.Conn.Read(b)
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() {
			return n, err
		}
		if n > 0 || !p.stale() {
			return n, os.ErrDeadlineExceeded
		}
	}
}

// stale reports whether the deadline that has passed may be one that is not set
// any more, and sets the one that is again: if that has passed indeed, the next
// read says so.
func (p *patientConn) stale() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked && !p.deadline.IsZero() {
		return false
	}
	p.asked = true
	return p.Conn.SetReadDeadline(p.deadline) == nil
}

// SetReadDeadline sets until when reading waits.
func (p *patientConn) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline, p.asked = t, false
	return p.Conn.SetReadDeadline(t)
}

// SetDeadline sets until when reading and writing wait.
func (p *patientConn) SetDeadline(t time.Time) error {
	return errors.Join(p.SetReadDeadline(t), p.SetWriteDeadline(t))
}
