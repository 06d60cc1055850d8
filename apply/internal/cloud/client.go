package cloud

import (
	"net/http"
	"sync"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/internal/turn"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/secret"
)

// Options are what a [Client] needs from outside.
type Options struct {
	// The URL of the API with its version; empty for Hetzner's own.
	Endpoint string
	// The token of the project.
	Token secret.String
	// Makes the connections.
	HTTP http.RoundTripper
	// The version of talosgen, for the User-Agent header.
	Version string
	// The time, and waiting.
	Clock Clock
	// A number from 0 to 1 by chance.
	Rand func() float64
	// Where it keeps the rate limits of projects for clients that run at once; nil: it
	// shares none.
	Budgets *sync.Map
	// Is told about every request, for -v; may be nil. It is called by several
	// goroutines at once.
	Log func(Request)
}

// Client is a connection to one project, for one run. It is safe for concurrent
// use.
type Client struct {
	*calls
	markerCalls
	snapshotCalls
	builderCalls
	autoscaledCalls

	sold struct {
		turn.Turn
		known     bool
		catalogue cloudplan.Catalogue
	}
}

// calls is what all calls go through: the API, the pace at which it is asked, and
// the end of what it does.
type calls struct {
	api    *hcloud.Client
	wire   *transport
	clock  Clock
	waiter *waiter
}

// New returns a client. It makes no request.
func New(o Options) *Client {
	wire := &transport{
		next:    o.HTTP,
		clock:   o.Clock,
		rand:    o.Rand,
		log:     o.Log,
		limiter: limiterOf(o),
	}
	options := []hcloud.ClientOption{
		hcloud.WithToken(o.Token.Reveal()),
		hcloud.WithApplication("talosgen", o.Version),
		// A redirect would be a surprise, and must not carry the token away.
		hcloud.WithHTTPClient(&http.Client{Transport: wire, CheckRedirect: noRedirect}),
		// Repeating is the transport's business.
		hcloud.WithRetryOpts(hcloud.RetryOpts{MaxRetries: 0}),
	}
	if o.Endpoint != "" {
		options = append(options, hcloud.WithEndpoint(o.Endpoint))
	}
	api := hcloud.NewClient(options...)
	c := &calls{api: api, wire: wire, clock: o.Clock, waiter: newWaiter(o.Clock, api)}
	return &Client{calls: c, markerCalls: markerCalls{firewallCalls{c}}, snapshotCalls: snapshotCalls{c}, builderCalls: builderCalls{c}, autoscaledCalls: autoscaledCalls{c}}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Stats are what a client has used so far.
type Stats struct {
	// Requests sent, repetitions included.
	Requests int
	// Time spent waiting because of the rate limit, over all requests.
	Limited time.Duration
	// Requests left in the project before the rate limit holds them up, as the
	// last answer said; -1 before the first one.
	Remaining int
}

// Stats returns what the client has used so far.
func (c *calls) Stats() Stats { return c.wire.stats() }

// ServerTime is the time of Hetzner's clock, as of the last answer. Before the
// first answer it is this machine's.
func (c *calls) ServerTime() time.Time { return c.wire.serverTime() }
