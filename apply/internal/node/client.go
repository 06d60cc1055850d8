package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	talosx509 "github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// Target is a node, and where its API is.
type Target struct {
	Name    string // for messages
	Address string // an address, with a port if it is not 50000
	// Counts the calls; may be nil.
	Calls *atomic.Int64
	// Whether clients only read: they send nothing that may change something.
	ReadOnly bool
}

// Credentials are what a client shows, and what it expects to be shown.
type Credentials struct {
	Authority   []byte // the certificate of the machine authority, PEM
	Certificate []byte // PEM
	Key         secret.String
}

// Client talks to one node. It connects when it is first used, and again when
// the connection was lost. It may be used by several goroutines at once.
type Client struct {
	*link
	etcdCalls
	installCalls
}

// link is the connection to a node, and what all calls have in common: reading
// answers, and errors for people.
type link struct {
	target    Target
	conn      *connection
	machine   machine.MachineServiceClient
	resources cosi.StateClient
	shown     *atomic.Pointer[string] // of a node in maintenance mode
}

// answerWithin is how long a call may take that does not wait for anything. One
// of them, the list of etcd's members, else waits for ever on a node that was
// not bootstrapped.
const answerWithin = 30 * time.Second

// largest is the size in bytes up to which a message is received, as in Talos'
// own client.
const largest = constants.GRPCMaxMessageSize

// Maintenance makes a client for a node that has no configuration yet. Nothing
// proves who answers, unless the fingerprint of the node's key is given, as the
// node shows it on its console.
func Maintenance(t Target, through reach.Transport, fingerprint string) (*Client, error) {
	config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // there is nothing to verify against
	if !schemas.IsFingerprint(fingerprint) && fingerprint != "" {
		return nil, diag.On("node "+t.Name, "%q is no fingerprint of a certificate", fingerprint).
			WithHint("the node shows it on its console")
	}
	shown := &atomic.Pointer[string]{}
	config.VerifyConnection = func(s tls.ConnectionState) error {
		got := talosx509.SPKIFingerprint(s.PeerCertificates[0]).String()
		if fingerprint != "" && got != fingerprint {
			return &wrongFingerprintError{got: got, want: fingerprint}
		}
		shown.Store(&got)
		return nil
	}
	c, err := dial(t, through, config)
	if err == nil {
		c.shown = shown
	}
	return c, err
}

// Fingerprint is that of the key which the node has shown, over the last
// connection that was made to it in maintenance mode; empty if there was none.
func (c *link) Fingerprint() string {
	if c.shown == nil || c.shown.Load() == nil {
		return ""
	}
	return *c.shown.Load()
}

// Connect makes a client for a node that has its configuration. now tells the
// time by which certificates are judged.
func Connect(t Target, through reach.Transport, c Credentials, now func() time.Time) (*Client, error) {
	roots := x509.NewCertPool()
	pair, err := tls.X509KeyPair(c.Certificate, []byte(c.Key.Reveal()))
	if err != nil || !roots.AppendCertsFromPEM(c.Authority) {
		// The error could quote the key.
		return nil, diag.On("node "+t.Name, "the client certificate, its key or the authority cannot be read").WithCode(diag.Secrets)
	}
	return dial(t, through, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, Time: now})
}

func dial(t Target, through reach.Transport, config *tls.Config) (*Client, error) {
	address := t.address()
	config.ServerName, _, _ = net.SplitHostPort(address)
	config.MinVersion = tls.VersionTLS12
	c := &connection{calls: t.Calls, readOnly: t.ReadOnly, dial: func(seen *failures) (*grpc.ClientConn, error) {
		// The name is resolved by whatever leads there, not here.
		return grpc.NewClient("passthrough:///"+address,
			grpc.WithContextDialer(seen.dialer(through)),
			grpc.WithTransportCredentials(seen.credentials(config)),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: answerWithin}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largest)))
	}}
	if err := c.begin(); err != nil {
		return nil, diag.On("node "+t.Name, "its address %q cannot be used: %v", t.Address, err).WithCause(err)
	}
	l := &link{target: t, conn: c, machine: machine.NewMachineServiceClient(c), resources: cosi.NewStateClient(c)}
	return &Client{link: l, etcdCalls: etcdCalls{l}, installCalls: installCalls{l}}, nil
}

// address is host:port.
func (t Target) address() string {
	if _, _, err := net.SplitHostPort(t.Address); err == nil {
		return t.Address
	}
	return net.JoinHostPort(t.Address, strconv.Itoa(constants.ApidPort))
}

// Close ends the connection.
func (c *link) Close() error { return c.conn.Close() }

// Target returns which node it is.
func (c *link) Target() Target { return c.target }

// call makes a call that has to end soon. what says what was to be done, for the
// error.
func call[Request, Response any](
	ctx context.Context, c *link, what string, request Request,
	method func(context.Context, Request, ...grpc.CallOption) (Response, error),
) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	response, err := method(ctx, request)
	return response, c.explain(what, err)
}
