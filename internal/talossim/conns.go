package talossim

import (
	"errors"
	"net"
	"os"
	"sync"
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
// deadline pass after each request.
type patient struct{ net.Listener }

// Accept waits for the next connection.
func (p patient) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return patientConn{conn}, nil
}

type patientConn struct{ net.Conn }

// Read says of a deadline what connections of the kernel say.
func (p patientConn) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}
