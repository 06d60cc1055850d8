package kube

import (
	"bytes"
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
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// manager owns the fields that are set.
const manager = "talosgen"

const (
	// answerWithin is how long a request may take, with its connection.
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
}

// Client talks to one API.
type Client struct {
	url   string
	http  *http.Client
	clock Clock
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
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			conn, err := o.Dial(ctx, address)
			if err != nil {
				return nil, &silentError{err}
			}
			return conn, nil
		},
		TLSClientConfig: &tls.Config{
			RootCAs: roots, Certificates: []tls.Certificate{certificate}, ServerName: o.TLSName,
			MinVersion: tls.VersionTLS12, Time: o.Clock.Now,
		},
	}
	return &Client{url: o.URL, clock: o.Clock, http: &http.Client{Transport: transport, Timeout: answerWithin}}, nil
}

// Close ends the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// silentError is an API that does not answer at all.
type silentError struct{ err error }

func (e *silentError) Error() string { return e.err.Error() }
func (e *silentError) Unwrap() error { return e.err }

// Silent reports whether an error means that nobody answers, in contrast to an
// answer that refuses.
func Silent(err error) bool {
	var silent *silentError
	return errors.As(err, &silent)
}

// do sends a request, with a merge patch if that is not nil, and decodes the
// answer into to.
func (c *Client) do(ctx context.Context, method, path string, patch, to any) error {
	var body []byte
	if patch != nil {
		var err error
		if body, err = json.Marshal(patch); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if patch != nil {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return noAnswer(ctx, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	if err != nil {
		return noAnswer(ctx, err)
	}
	if response.StatusCode != http.StatusOK {
		return refusal(method, path, response.StatusCode, answer)
	}
	if err := json.Unmarshal(answer, to); err != nil {
		return diag.On("Kubernetes API", "%s %s: the answer cannot be read: %v", method, path, err).WithCode(diag.Remote)
	}
	return nil
}

// noAnswer tells silence from what is wrong with a connection that exists.
func noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	var timeout net.Error
	if !Silent(err) && errors.As(err, &timeout) && timeout.Timeout() {
		err = &silentError{fmt.Errorf("does not answer within %s", answerWithin)}
	}
	if Silent(err) {
		return err
	}
	return diag.On("Kubernetes API", "%v", err).WithCode(diag.Remote).WithCause(err)
}

// refusalError is an answer that is none of success.
type refusalError struct {
	status  int
	request string
	message string // what the API says; may be empty
}

func (e *refusalError) Error() string {
	text := fmt.Sprintf("%s: %d %s", e.request, e.status, http.StatusText(e.status))
	if e.message != "" {
		text += ": " + e.message
	}
	return text
}

func refusal(method, path string, status int, answer []byte) error {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(answer, &said) // a proxy's page has none
	r := &refusalError{status: status, request: method + " " + path, message: said.Message}
	return diag.On("Kubernetes API", "%v", r).WithCode(diag.Remote).WithCause(r)
}

// absent reports whether there is no such object.
func absent(err error) bool {
	var r *refusalError
	return errors.As(err, &r) && r.status == http.StatusNotFound
}
