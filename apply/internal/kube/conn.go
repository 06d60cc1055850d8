package kube

import (
	"bytes"
	"cmp"
	"context"
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

	"k8s.io/client-go/rest"

	"github.com/talosgen/talosgen/internal/diag"
)

// mostBytes is more than a page of a list ever has.
const mostBytes = 64 << 20

// transport opens the connections of options. They are of HTTP/1.1: over HTTP/2 all
// requests share one, and one that has died is used again after a request timed out.
func transport(o Options) (*http.Transport, error) {
	base, err := rest.TransportFor(&rest.Config{
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: o.TLSName, CAData: o.Authority, CertData: o.Certificate, KeyData: []byte(o.Key.Reveal()), NextProtos: []string{"http/1.1"},
		},
		Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
			conn, err := o.Dial(ctx, address)
			if err != nil {
				return nil, &silentError{err: err}
			}
			return conn, nil
		},
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, // else the environment names one
	})
	own, is := base.(*http.Transport)
	if err != nil || !is {
		return nil, errors.New("the authority of the Kubernetes API, or the client's certificate, cannot be used") // what is wrong with it may quote the key
	}
	own.TLSClientConfig.Time = o.Clock.Now
	return own, nil
}

// conn sends each request once, and gives whole answers or an error. It is the way to
// the API of [requests].
type conn struct {
	base     http.RoundTripper
	clock    Clock
	within   time.Duration
	patience time.Duration
	soon     bool
	calls    *atomic.Int64                    // may be nil
	shown    atomic.Pointer[x509.Certificate] // of the API
	skew     atomic.Int64                     // from the clock of this machine to the API's, in nanoseconds
}

func newConn(o Options, base http.RoundTripper) *conn {
	return &conn{base: base, clock: o.Clock, within: cmp.Or(o.Within, answerWithin), patience: o.Patience, soon: o.Soon, calls: o.Calls}
}

// CloseIdleConnections ends the connections.
func (c *conn) CloseIdleConnections() { (&http.Client{Transport: c.base}).CloseIdleConnections() }

// serverTime is the time by the clock of the API.
func (c *conn) serverTime() time.Time { return c.clock.Now().Add(time.Duration(c.skew.Load())) }

// RoundTrip sends a request once.
func (c *conn) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, body, err := c.exchange(r)
	return withBody(answer, body), err
}

// withBody is an answer whose body has been read.
func withBody(answer *http.Response, body []byte) *http.Response {
	if answer != nil {
		answer.Body = io.NopCloser(bytes.NewReader(body))
	}
	return answer
}

// exchange sends a request once, and reads the answer. The request's body stays
// usable if it can be made anew.
func (c *conn) exchange(r *http.Request) (answer *http.Response, body []byte, err error) {
	if c.calls != nil {
		c.calls.Add(1)
	}
	ctx, cancel := context.WithTimeout(r.Context(), c.within)
	defer cancel()
	sent := r.Clone(ctx)
	if r.GetBody != nil {
		if sent.Body, err = r.GetBody(); err != nil {
			return nil, nil, err
		}
	}
	answer, err = c.base.RoundTrip(sent)
	if err != nil {
		return nil, nil, c.noAnswer(r.Context(), err)
	}
	defer answer.Body.Close()
	if answer.TLS != nil && len(answer.TLS.PeerCertificates) > 0 {
		c.shown.Store(answer.TLS.PeerCertificates[0])
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		c.skew.Store(int64(date.Sub(c.clock.Now())))
	}
	body, err = io.ReadAll(io.LimitReader(answer.Body, mostBytes))
	if err != nil {
		return nil, nil, c.noAnswer(r.Context(), err)
	}
	if err := wellFormed(r, answer, body); err != nil {
		return nil, nil, err
	}
	return answer, body, nil
}

// wellFormed refuses an answer of success that is no JSON, or, of metrics, no whole
// lines. One that ends before its end was lost on the way, so it is asked for again.
func wellFormed(r *http.Request, answer *http.Response, body []byte) error {
	if r.URL.Path == metricsPath && bytes.HasPrefix(body, []byte("#")) && bytes.HasSuffix(body, []byte("\n")) {
		return nil
	}
	if answer.StatusCode < http.StatusOK || answer.StatusCode >= http.StatusMultipleChoices || json.Valid(body) {
		return nil
	}
	var whole json.RawMessage
	err := json.NewDecoder(bytes.NewReader(body)).Decode(&whole)
	problem := diag.On("Kubernetes API", "%s %s: the answer cannot be read: %v", r.Method, r.URL.Path, err).WithCode(diag.Remote)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return problem.WithCause(io.ErrUnexpectedEOF)
	}
	return problem
}

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

// timedOut reports whether nobody has answered for as long as one waits.
func timedOut(err error) bool {
	var silent *silentError
	return errors.As(err, &silent) && (silent.late || late(err))
}

// late reports whether an error is that of a time that is over.
func late(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// noAnswer tells silence from what is wrong with a connection that exists. The
// context is that of the caller.
func (c *conn) noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !Silent(err) && late(err) {
		err = &silentError{err: fmt.Errorf("does not answer within %s", c.within), late: true}
	}
	if Silent(err) {
		return err
	}
	return diag.On("Kubernetes API", "%v", err).WithHint("%s", connectionHint(err)).WithCode(diag.Remote).WithCause(err)
}
