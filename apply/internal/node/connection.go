package node

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
)

// connection is a connection to a node that is made anew for the next call after
// an attempt to connect has failed. It may be used by several goroutines at once.
//
// gRPC by itself waits before it tries again, and fails all calls meanwhile with
// what it saw last. Whoever waits for a node calls at a pace of its own, and
// wants to know how the node is now.
type connection struct {
	dial  func(*failures) (*grpc.ClientConn, error)
	calls *atomic.Int64 // counts them; may be nil
	// Whether calls that may change something are refused.
	readOnly bool

	mu     sync.Mutex
	closed bool
	now    *attempt
}

// attempt is what gRPC makes of a connection.
type attempt struct {
	*grpc.ClientConn
	failures *failures
	calls    int  // that are under way
	silent   bool // a call was not answered in time
}

// failed reports whether the next call needs another one. gRPC lets calls fail
// before it changes its state, so what was noted of a failure counts first; a
// connection that it makes by itself later, it uses only when it says so. Nothing
// ends a connection to a machine that has lost its power: who gets no answer over
// it tries another one.
func (a *attempt) failed() bool {
	return a.silent || a.failures.failed() || a.GetState() == connectivity.TransientFailure
}

// begin makes the first attempt, which connects with the first call.
func (c *connection) begin() (err error) {
	c.now, err = c.attempt(&failures{})
	return err
}

func (c *connection) attempt(f *failures) (*attempt, error) {
	conn, err := c.dial(f)
	return &attempt{ClientConn: conn, failures: f}, err
}

// open returns the attempt to use for a call, which is counted. When the call has
// ended, done is to be told.
func (c *connection) open() (*attempt, error) {
	if c.calls != nil {
		c.calls.Add(1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.failed() && !c.closed {
		fresh, err := c.attempt(c.now.failures.next())
		if err != nil {
			return nil, err
		}
		if c.now.calls == 0 {
			_ = c.now.Close() // nobody is connected by it
		}
		c.now = fresh
	}
	c.now.calls++
	return c.now, nil
}

// done is the end of a call with a context. An attempt that failed ends with the
// last of its calls: what they are told is why it failed, not that somebody has
// ended it.
func (c *connection) done(ctx context.Context, a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.silent = a.silent || errors.Is(ctx.Err(), context.DeadlineExceeded)
	if a.calls--; a.calls == 0 && a != c.now {
		_ = a.Close()
	}
}

// cause is why there is no connection; nil if there is one, or if it is not known.
func (c *connection) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now.failures.cause()
}

// Invoke makes a call with one request and one answer.
func (c *connection) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	if err := c.refused(method); err != nil {
		return err
	}
	now, err := c.open()
	if err != nil {
		return err
	}
	err = now.Invoke(ctx, method, request, answer, opts...)
	if status.Code(err) == codes.DeadlineExceeded {
		c.unanswered(now) // gRPC may say so a moment before the context does
	}
	c.done(ctx, now)
	return err
}

// unanswered notes that a call was not answered in time.
func (c *connection) unanswered(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.silent = true
}

// NewStream begins a call with several of them.
func (c *connection) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if err := c.refused(method); err != nil {
		return nil, err
	}
	now, err := c.open()
	if err != nil {
		return nil, err
	}
	stream, err := now.NewStream(ctx, desc, method, opts...)
	if err != nil {
		c.done(ctx, now)
		return nil, err
	}
	context.AfterFunc(stream.Context(), func() { c.done(ctx, now) })
	return stream, nil
}

// Close ends the connection, and makes no other one.
func (c *connection) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.now.Close()
}
