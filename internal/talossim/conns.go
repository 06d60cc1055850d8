package talossim

import (
	"net"
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
