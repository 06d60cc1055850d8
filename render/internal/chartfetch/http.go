package chartfetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	attempts     = 4
	patience     = 5 * time.Minute // for an attempt
	maxRedirects = 10
	longestWait  = 30 * time.Second // that a server may ask for
)

// request is something to get.
type request struct {
	url    *url.URL
	what   string // for people
	limit  int64  // in bytes
	accept string
	// authorization is the header; empty for that of the credentials.
	authorization string
	// header, if it is set, gets the header of the answer.
	header *http.Header
}

// get gets something, several times if need be.
func (f *Fetcher) get(ctx context.Context, r request) ([]byte, error) {
	wait := time.Second
	for attempt := 1; ; attempt++ {
		data, err := f.attempt(ctx, r)
		var again *retryable
		if err == nil || !errors.As(err, &again) || ctx.Err() != nil {
			return data, err
		}
		if attempt == attempts {
			return nil, again.problem
		}
		if err := f.Sleep(ctx, max(wait, min(again.after, longestWait))); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

// retryable is a failure that may pass.
type retryable struct {
	problem *diag.Problem
	after   time.Duration // that the server asked for
}

// Error is that of the problem.
func (r *retryable) Error() string { return r.problem.Error() }

// refusedRedirect is why a redirect was not followed.
type refusedRedirect string

// Error says why.
func (r refusedRedirect) Error() string { return string(r) }

func (f *Fetcher) attempt(ctx context.Context, r request) ([]byte, error) {
	ctx, cancel := f.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "talosgen")
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	if r.authorization != "" {
		req.Header.Set("Authorization", r.authorization)
	} else if login, found := f.Credentials[r.url.Host]; found {
		req.SetBasicAuth(login.User, login.Password.Reveal())
	}
	client := http.Client{Transport: f.Transport, CheckRedirect: followRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, unreachable(r, err)
	}
	defer resp.Body.Close()
	if r.header != nil {
		*r.header = resp.Header
	}
	if resp.StatusCode != http.StatusOK {
		return nil, f.refused(r, resp)
	}
	return f.read(r, resp)
}

// followRedirect follows redirects, but takes no credentials to another host,
// and does not leave TLS.
func followRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > maxRedirects:
		return refusedRedirect("it redirects again and again")
	case req.URL.Scheme != "https" && (first.URL.Scheme == "https" || !loopback(req.URL.Hostname())):
		return refusedRedirect("it redirects to " + req.URL.Host + " without TLS")
	case req.URL.Host != first.URL.Host:
		req.Header.Del("Authorization")
	}
	return nil
}

func unreachable(r request, err error) error {
	var refused refusedRedirect
	var inner *url.Error
	reason := err
	if errors.As(err, &inner) {
		reason = inner.Err // without the URL, which the problem has
	}
	p := diag.On(r.what, "cannot be fetched from %s: %v", r.url.Host, reason).WithCode(diag.Remote).WithCause(err)
	if errors.As(err, &refused) {
		return p
	}
	return &retryable{problem: p.WithHint("behind a proxy, set HTTPS_PROXY; for an authority of your own, SSL_CERT_FILE")}
}

// read reads the body of an answer.
func (f *Fetcher) read(r request, resp *http.Response) ([]byte, error) {
	if resp.ContentLength > r.limit {
		return nil, tooLarge(r)
	}
	body := io.Reader(resp.Body)
	if f.Progress != nil {
		body = &counting{Reader: body, report: func(done int64) { f.Progress(r.what, done, resp.ContentLength) }}
	}
	data, err := io.ReadAll(io.LimitReader(body, r.limit+1))
	if err != nil {
		return nil, &retryable{problem: diag.On(r.what, "the answer of %s broke off after %d bytes: %v", r.url.Host, len(data), err).WithCode(diag.Remote).WithCause(err)}
	}
	if int64(len(data)) > r.limit {
		return nil, tooLarge(r)
	}
	return data, nil
}

func tooLarge(r request) *diag.Problem {
	return diag.On(r.what, "%s gives more than %d MiB", r.url.Host, r.limit>>20).WithCode(diag.Remote)
}

// refused is an answer that is not what was asked for. What servers write
// besides is not shown: it is theirs.
func (f *Fetcher) refused(r request, resp *http.Response) error {
	p := diag.On(r.what, "%s answers %s to %s", r.url.Host, status(resp.StatusCode), r.url.EscapedPath()).WithCode(diag.Remote).
		WithCause(statusError(resp.StatusCode))
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		if _, found := f.Credentials[r.url.Host]; found {
			return p.WithHint("the credentials for %s are not right, or not allowed to", r.url.Host)
		}
		return p.WithHint("it may not exist, or need credentials for %s: see `talosgen charts vendor --help`", r.url.Host)
	case code == http.StatusNotFound:
		return p.WithHint("check the address, the name and the version")
	case code == http.StatusTooManyRequests || code >= 500:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &retryable{problem: p.WithHint("try again later"), after: time.Duration(seconds) * time.Second}
	}
	return p
}

// statusError is the code of an answer, as a cause.
type statusError int

// Error is the code.
func (s statusError) Error() string { return status(int(s)) }

func status(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d (%s)", code, text)
	}
	return strconv.Itoa(code)
}

// counting reports how much was read.
type counting struct {
	io.Reader
	done   int64
	report func(done int64)
}

// Read reads, and reports.
func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	c.report(c.done)
	return n, err
}
