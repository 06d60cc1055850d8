package reach

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/reach/reachtest"
)

// TestJumpPastSilence: a node that never answers ends nobody's wait but its own:
// what goes through the bastion to other nodes goes on.
func TestJumpPastSilence(t *testing.T) {
	s := reachtest.Start(t)
	j := newJump(t, bastion(s))
	conn, err := j.Dial(t.Context(), echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		silent := s.Silent(cancel)
		if _, err := j.Dial(ctx, silent); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	checkEchoes(t, conn)
	if n := s.Connections(); n != 1 {
		t.Errorf("%d SSH connections", n)
	}
}

// TestJumpSilent: a bastion that is there, and says nothing any more, is left
// after a while, and connected to again.
func TestJumpSilent(t *testing.T) {
	s := reachtest.Start(t)
	b := bastion(s)
	var deaf atomic.Bool
	b.Address = reachtest.Listen(t, func(c net.Conn) { passUnless(&deaf, c, s.Address) })
	j := newJump(t, b)
	target := echo(t)
	checkCarries(t, j, target)
	deaf.Store(true)
	j.mu.Lock()
	client := j.client
	j.mu.Unlock()
	j.probe(client, 10*time.Millisecond)
	deaf.Store(false)
	checkCarries(t, j, target)
	if n := s.Connections(); n != 2 {
		t.Errorf("%d SSH connections", n)
	}
}

// passUnless passes on what a connection says, unless the other side is deaf.
func passUnless(deaf *atomic.Bool, conn net.Conn, to string) {
	defer conn.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(conn, server) }()
	said := make([]byte, 1<<16)
	for {
		n, err := conn.Read(said)
		if err != nil {
			return
		}
		if !deaf.Load() {
			_, _ = server.Write(said[:n])
		}
	}
}
