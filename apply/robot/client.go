package robot

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// DefaultEndpoint is the web service of Hetzner Robot.
const DefaultEndpoint = "https://robot-ws.your-server.de"

const (
	// answersWithin is how long a request may take.
	answersWithin = 30 * time.Second
	// tries bounds how often a request is made whose answer was lost.
	tries = 3
	// tryPause is between two of them.
	tryPause = 3 * time.Second
	// mostAnswer bounds an answer, in bytes.
	mostAnswer = 8 << 20
)

// Account is the access to Hetzner Robot.
type Account struct {
	// The URL of the web service; empty: [DefaultEndpoint].
	Endpoint string
	User     secret.String
	Password secret.String
	HTTP     http.RoundTripper
	Version  string // of talosgen
	Clock    cloud.Clock
	// Is told about every request, in one line; may be nil.
	Log func(string)
}

// Client makes requests to Robot's web service, one at a time. It is safe for concurrent
// use.
//
// After three failed logins Hetzner blocks the address that they came from for ten
// minutes, for other programs as well. So the first one ends all: later calls make no
// request.
type Client struct {
	account Account

	mu      sync.Mutex
	refused error // that the login failed
}

// New returns a client. It refuses an endpoint that would see the password in the clear.
func New(a Account) (*Client, error) {
	if a.Endpoint == "" {
		a.Endpoint = DefaultEndpoint
	}
	u, err := url.Parse(a.Endpoint)
	switch {
	case err != nil || u.Host == "":
		return nil, diag.On("Hetzner Robot", "its endpoint is not a URL").WithCode(diag.Usage)
	case u.User != nil:
		return nil, diag.On("Hetzner Robot", "the URL of its endpoint has a password in it").WithCode(diag.Usage)
	case u.Scheme != "https" && !schemas.IsOnThisMachine(a.Endpoint):
		return nil, diag.On("Hetzner Robot", "the endpoint %s is not https: the password would be sent in the clear", a.Endpoint).WithCode(diag.Usage)
	}
	a.Endpoint = strings.TrimSuffix(a.Endpoint, "/")
	return &Client{account: a}, nil
}

// call is a request.
type call struct {
	method, path string
	form         url.Values
	// Whether the request is made only once: its answer may be lost after it had an
	// effect that must not come twice.
	once bool
	into any // what the answer is decoded into; nil: nothing
}

// do makes a request, again if its answer was lost or Robot is in maintenance.
func (c *Client) do(ctx context.Context, k call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for try := 1; ; try++ {
		if c.refused != nil {
			return c.refused
		}
		err := c.try(ctx, k)
		var answer *Error
		passing := errors.As(err, &answer) && answer.passing()
		switch {
		case err == nil || ctx.Err() != nil || k.once || !passing || try == tries:
			return err
		}
		if err := c.account.Clock.Sleep(ctx, tryPause); err != nil {
			return err
		}
	}
}

// try makes a request once.
func (c *Client) try(ctx context.Context, k call) error {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	request, err := c.request(ctx, k)
	if err != nil {
		return err
	}
	response, err := c.account.HTTP.RoundTrip(request)
	if err != nil {
		c.log(k, "no answer")
		return &Error{Call: k.method + " " + k.path, lost: err}
	}
	defer response.Body.Close()
	c.log(k, response.Status)
	body, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	switch {
	case response.StatusCode == http.StatusUnauthorized:
		c.refused = loginFailed(c.account.Endpoint)
		return c.refused
	case response.StatusCode >= 300:
		return answered(k, response.StatusCode, body)
	case err != nil:
		return &Error{Call: k.method + " " + k.path, lost: err}
	case k.into == nil:
		return nil
	}
	if err := json.Unmarshal(body, k.into); err != nil {
		// The answer may hold the password of a rescue system.
		return diag.On("Hetzner Robot", "the answer to %s %s cannot be read", k.method, k.path).WithCode(diag.Remote)
	}
	return nil
}

// request is a request with the login.
func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	var body io.Reader
	if k.form != nil {
		body = strings.NewReader(k.form.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, k.method, c.account.Endpoint+k.path, body)
	if err != nil {
		return nil, diag.On("Hetzner Robot", "a request cannot be made").WithCode(diag.Remote)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "talosgen/"+c.account.Version)
	r.SetBasicAuth(c.account.User.Reveal(), c.account.Password.Reveal())
	return r, nil
}

func (c *Client) log(k call, status string) {
	if c.account.Log != nil {
		c.account.Log("robot: " + k.method + " " + k.path + " " + status)
	}
}
