package quietclock

import "net"

// Watch returns a listener on whose connections nothing passes unseen: that is
// work too, though nobody works while it is on its way through the kernel.
func (c *Clock) Watch(l net.Listener) net.Listener { return watched{l, c} }

type watched struct {
	net.Listener

	clock *Clock
}

// Accept waits for the next connection.
func (w watched) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	w.clock.passed.Add(1)
	if err != nil {
		return nil, err
	}
	return watchedConn{conn, w.clock}, nil
}

type watchedConn struct {
	net.Conn

	clock *Clock
}

// Read notes what has arrived.
func (w watchedConn) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.clock.passed.Add(1)
	return n, err
}

// Write notes what is sent.
func (w watchedConn) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.clock.passed.Add(1)
	return n, err
}
