package kube

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// manager owns the fields that are set.
const manager = "talosgen"

const (
	// answerWithin is how long a request may take, with its connection, unless
	// [Options] say something else.
	answerWithin = 5 * time.Second
	// mostBytes is more than a page of a list ever has.
	mostBytes = 64 << 20
)

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
}

// Client talks to one API.
type Client struct {
	url      string
	http     *http.Client
	clock    Clock
	patience time.Duration
	soon     bool
	shown    atomic.Pointer[x509.Certificate] // of the API
	ahead    atomic.Int64                     // of the API's clock to that of this machine, in nanoseconds
}

// New makes a client. It makes no connection yet.
func New(o Options) (*Client, error) {
	certificate, err := tls.X509KeyPair(o.Certificate, []byte(o.Key.Reveal()))
	if err != nil {
		return nil, errors.New("the client's certificate cannot be used") // what is wrong with it may quote the key
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(o.Authority) {
		return nil, errors.New("the authority of the Kubernetes API cannot be read")
	}
	c := &Client{url: o.URL, clock: o.Clock, patience: o.Patience, soon: o.Soon}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			conn, err := o.Dial(ctx, address)
			if err != nil {
				return nil, &silentError{err: err}
			}
			return conn, nil
		},
		TLSClientConfig: &tls.Config{
			RootCAs: roots, Certificates: []tls.Certificate{certificate}, ServerName: o.TLSName,
			MinVersion: tls.VersionTLS12, Time: o.Clock.Now,
			VerifyConnection: func(s tls.ConnectionState) error {
				c.shown.Store(s.PeerCertificates[0])
				return nil
			},
		},
	}
	c.http = &http.Client{Transport: &counting{transport, o.Calls}, Timeout: cmp.Or(o.Within, answerWithin)}
	return c, nil
}

// counting counts the requests that are sent.
type counting struct {
	*http.Transport
	calls *atomic.Int64 // may be nil
}

// RoundTrip sends a request.
func (t *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.calls != nil {
		t.calls.Add(1)
	}
	return t.Transport.RoundTrip(r)
}

// Close ends the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ServerTime is the time by the clock of the API server that answered last; that
// of this machine may be wrong by hours.
func (c *Client) ServerTime() time.Time { return c.clock.Now().Add(time.Duration(c.ahead.Load())) }

// silentError is an API that does not answer at all.
type silentError struct {
	err  error
	late bool // it took longer than a request may
}

func (e *silentError) Error() string { return e.err.Error() }
func (e *silentError) Unwrap() error { return e.err }

// Silent reports whether an error means that nobody answers, in contrast to an
// answer that refuses.
func Silent(err error) bool {
	var silent *silentError
	return errors.As(err, &silent)
}

// Content types of what is sent.
const (
	mergePatch = "application/merge-patch+json"
	applyPatch = "application/apply-patch+yaml"
	jsonPatch  = "application/json-patch+json"
	plainJSON  = "application/json"
)

// do sends a request, with a merge patch if that is not nil, and decodes the
// answer into to.
func (c *Client) do(ctx context.Context, method, path string, patch, to any) error {
	return c.send(ctx, request{method: method, path: path, content: mergePatch, body: patch}, to)
}

// request is what is asked of the API.
type request struct {
	method, path string
	accept       string // empty: JSON
	content      string // of the body
	body         any    // nil: none
}

// send sends a request, with a body if that is not nil, and decodes the answer
// into to. It repeats what got no answer, or is to be asked again, as long as
// the client has patience.
func (c *Client) send(ctx context.Context, r request, to any) error {
	var text []byte
	if r.body != nil {
		var err error
		if text, err = json.Marshal(r.body); err != nil {
			return err
		}
	}
	begin := c.clock.Now()
	for n := 0; ; n++ {
		err := c.once(ctx, r, text, to)
		pause, again := retryAfter(err, n)
		if !again || c.soon && timedOut(err) || ctx.Err() != nil || c.clock.Now().Add(pause).Sub(begin) > c.patience {
			return err
		}
		if err := c.clock.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// once sends a request once.
func (c *Client) once(ctx context.Context, r request, body []byte, to any) error {
	q, err := http.NewRequestWithContext(ctx, r.method, c.url+r.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Accept", cmp.Or(r.accept, plainJSON))
	q.Header.Set("User-Agent", manager)
	if len(body) > 0 {
		q.Header.Set("Content-Type", r.content)
	}
	response, err := c.http.Do(q)
	if err != nil {
		return c.noAnswer(ctx, err)
	}
	defer response.Body.Close()
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		c.ahead.Store(int64(date.Sub(c.clock.Now())))
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	if err != nil {
		return c.noAnswer(ctx, err)
	}
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		return refusal(r.method, r.path, response, answer)
	}
	if err := utiljson.Unmarshal(answer, to); err != nil {
		problem := diag.On("Kubernetes API", "%s %s: the answer cannot be read: %v", r.method, r.path, err).WithCode(diag.Remote)
		if short(answer) {
			return problem.WithCause(io.ErrUnexpectedEOF) // it is asked again
		}
		return problem
	}
	return nil
}

// timedOut reports whether nobody has answered for as long as one waits.
func timedOut(err error) bool {
	var silent *silentError
	var timeout net.Error
	return errors.As(err, &silent) && (silent.late || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout())
}

// short reports whether an answer is empty, or ends before its end.
func short(answer []byte) bool {
	var whole json.RawMessage
	err := json.NewDecoder(bytes.NewReader(answer)).Decode(&whole)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// noAnswer tells silence from what is wrong with a connection that exists.
func (c *Client) noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	var timeout net.Error
	if !Silent(err) && errors.As(err, &timeout) && timeout.Timeout() {
		err = &silentError{err: fmt.Errorf("does not answer within %s", c.http.Timeout), late: true}
	}
	if Silent(err) {
		return err
	}
	return diag.On("Kubernetes API", "%v", err).WithHint("%s", connectionHint(err)).WithCode(diag.Remote).WithCause(err)
}
