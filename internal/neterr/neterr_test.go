package neterr

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
)

// A port at which nobody listens refuses, and a connection that the other side has reset
// is broken, by what the system says of each.
func TestErrorsOfTheSystem(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.(*net.TCPConn).SetLinger(0), other.Close(), listener.Close()); err != nil {
		t.Fatal(err)
	}
	_, reset := conn.Read(make([]byte, 1))
	_, none := net.Dial("tcp", listener.Addr().String())
	for _, c := range []struct {
		err             error
		refused, broken bool
	}{
		{none, true, false},
		{fmt.Errorf("get: %w", none), true, false},
		{reset, false, true},
		{fmt.Errorf("get: %w", reset), false, true},
		{context.DeadlineExceeded, false, false},
		{nil, false, false},
	} {
		if r, b := Refused(c.err), Broken(c.err); r != c.refused || b != c.broken {
			t.Errorf("%v: refused %v, broken %v", c.err, r, b)
		}
	}
}
