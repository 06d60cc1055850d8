package kube

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/talosgen/talosgen/apply/internal/readonly"
	"github.com/talosgen/talosgen/internal/secret"
)

// manager owns the fields that are set.
const manager = "talosgen"

// answerWithin is how long a request may take, with its connection, unless [Options]
// say something else.
const answerWithin = 5 * time.Second

// Clock is the passing of time.
type Clock interface {
	// Now is the time of this machine.
	Now() time.Time
	// Sleep waits, and returns early with the context's error if that ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// Options say where an API is, and who asks.
type Options struct {
	URL string
	// A name that its certificate holds, if it does not hold that of the URL.
	TLSName string
	// The authority of the cluster, and the client's certificate, in PEM.
	Authority, Certificate []byte
	Key                    secret.String
	// Opens connections to addresses, host:port.
	Dial  func(ctx context.Context, address string) (net.Conn, error)
	Clock Clock
	// How long a request may take, with its connection; 0: 5 seconds. A request
	// that webhooks look at takes longer: each of them may take 30 seconds.
	Within time.Duration
	// How long a request that got no answer, or one that asks for patience, is
	// repeated; 0: not at all.
	Patience time.Duration
	// Whether that is not for who does not answer at all: then there is more likely no
	// way to the API than that it starts.
	Soon bool
	// Counts the requests, with repetitions; may be nil.
	Calls *atomic.Int64
	// Whether it only reads: nothing is sent that may change something.
	ReadOnly bool
}

// Client talks to one API.
type Client struct {
	conn   *conn
	served *discovery.DiscoveryClient
	// Requests about objects: repeated as long as there is patience, and sent once.
	objects, once dynamic.Interface
}

// New makes a client. It makes no connection yet.
func New(o Options) (*Client, error) {
	base, err := transport(o)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		return newClient(o, readonly.Transport{Next: base})
	}
	return newClient(o, base)
}

// newClient makes a client whose connections are those of a transport.
func newClient(o Options, base http.RoundTripper) (*Client, error) {
	conn := newConn(o, base)
	once, err := requests(o.URL, conn)
	if err != nil {
		return nil, err
	}
	repeated, err := requests(o.URL, patient{conn})
	if err != nil {
		return nil, err
	}
	return &Client{conn: conn, served: discovery.NewDiscoveryClient(repeated), objects: dynamic.New(repeated), once: dynamic.New(once)}, nil
}

// requests makes client-go's requests, without its own pace and repetitions: these
// go by the clock of the machine, and are the transport's.
func requests(url string, transport http.RoundTripper) (rest.Interface, error) {
	client, err := rest.UnversionedRESTClientFor(dynamic.ConfigFor(&rest.Config{
		Host: url, Transport: transport, UserAgent: manager, QPS: -1, WarningHandler: rest.NoWarnings{},
	}))
	if err != nil {
		return nil, err
	}
	return unrepeated{client}, nil
}

// Close ends the connections.
func (c *Client) Close() { c.conn.CloseIdleConnections() }

// ServerTime is the time by the clock of the API server that answered last; that
// of this machine may be wrong by hours.
func (c *Client) ServerTime() time.Time { return c.conn.serverTime() }

// ServerCertificate is the certificate that the API showed last; nil if it has not
// answered yet.
func (c *Client) ServerCertificate() *x509.Certificate { return c.conn.shown.Load() }

// Alive asks, once, whether the API serves requests. Everything that it needs
// for that is there then: etcd, the objects of its own, its rules.
func (c *Client) Alive(ctx context.Context) error {
	_, err := c.atOnce(namespaces, "").get(ctx, "kube-system")
	return err
}

// Version asks for the version of the API, such as v1.36.4.
func (c *Client) Version(ctx context.Context) (string, error) {
	version, err := c.served.ServerVersionWithContext(ctx)
	if err != nil {
		return "", refusal(http.MethodGet, "/version", err)
	}
	return version.GitVersion, nil
}
