package reach

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/neterr"
)

// Transport opens connections to addresses, host:port. It may be used by several
// goroutines at once.
type Transport interface {
	Dial(ctx context.Context, address string) (net.Conn, error)
}

// ConnectWithin is how long an address may take to accept a connection: long enough
// for what is lost twice on the way, and for a way around the world. A firewall that
// drops packets, and a machine that is switched off, never answer. What accepts a
// connection may take longer to say something.
const ConnectWithin = 5 * time.Second

// Connect connects through a transport, within [ConnectWithin].
func Connect(ctx context.Context, through Transport, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectWithin)
	defer cancel()
	return through.Dial(ctx, address)
}

// Direct connects from this machine.
type Direct struct{}

// Dial connects. The error says which address does not answer, and how.
func (Direct) Dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: ConnectWithin}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, unreachable(address, err)
	}
	return conn, nil
}

// unreachable says why there is no connection to an address.
func unreachable(address string, err error) error {
	p := diag.On(address, "cannot be reached: %v", reason(err)).WithCode(diag.Remote).WithCause(err)
	var dns *net.DNSError
	switch {
	case neterr.Refused(err):
		p.Message = "refuses connections"
		p.WithHint("the machine is there, but nothing listens on that port: is it still starting, or another machine?")
	case errors.As(err, &dns):
		p.Message = "the name cannot be resolved: " + dns.Err
	case isTimeout(err):
		p.Message = "does not answer"
		p.WithHint("is it running, and does its firewall let you in?")
	}
	return p
}

// silentThrough is an address that does not answer whoever stands before it.
func silentThrough(address, by string, err error) error {
	return diag.On(address, "does not answer through %s", by).WithCode(diag.Remote).WithCause(err).
		WithHint("is it running, and does its firewall let that server in?")
}

// reason is the innermost error, which does not say the address again.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}
