package node

import (
	"context"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// connection is a connection to a node that is made anew for the next call after
// an attempt to connect has failed.
//
// gRPC by itself waits before it tries again, and fails all calls meanwhile with
// what it saw last. Whoever waits for a node calls at a pace of its own, and
// wants to know how the node is now.
type connection struct {
	dial  func() (*grpc.ClientConn, error)
	calls *atomic.Int64 // counts them; may be nil

	mu     sync.Mutex
	closed bool
	now    *grpc.ClientConn
}

// open returns the connection to use for a call, which is counted.
func (c *connection) open() (*grpc.ClientConn, error) {
	if c.calls != nil {
		c.calls.Add(1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.GetState() != connectivity.TransientFailure || c.closed {
		return c.now, nil
	}
	fresh, err := c.dial()
	if err != nil {
		return nil, err
	}
	_ = c.now.Close() // nobody is connected by it
	c.now = fresh
	return c.now, nil
}

// Invoke makes a call with one request and one answer.
func (c *connection) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	conn, err := c.open()
	if err != nil {
		return err
	}
	return conn.Invoke(ctx, method, request, answer, opts...)
}

// NewStream begins a call with several of them.
func (c *connection) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	conn, err := c.open()
	if err != nil {
		return nil, err
	}
	return conn.NewStream(ctx, desc, method, opts...)
}

// Close ends the connection, and makes no other one.
func (c *connection) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.now.Close()
}
