package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// How often and how long calls are repeated.
const (
	// failureTries bounds tries of calls that fail at Hetzner or on the way.
	failureTries = 6
	// busyTries bounds tries of calls to something that is being changed. With
	// the backoff that is a few minutes: longer than any action but the making
	// of images.
	busyTries = 40
	// limitedTries bounds tries of calls against the rate limit. Waits double
	// up to [mostLimited], so that is more than the hour in which a limit becomes
	// whole.
	limitedTries = 40
	// unheardTries bounds tries of calls that nothing was sent of, as long as nobody
	// has answered this client: more likely there is no way than that it passes.
	unheardTries = 2

	firstWait = time.Second
	mostWait  = 10 * time.Second
	// requestTimeout is how long one try of a call may take.
	requestTimeout = 60 * time.Second
)

// LostAnswer is the error of a call that may or may not have had its effect.
// Only a new observation tells.
type LostAnswer struct {
	Method, Path string
	Err          error // what happened on the way
}

// Error says which call it was, and what happened.
func (e *LostAnswer) Error() string {
	return fmt.Sprintf("%s %s: no answer: %v", e.Method, e.Path, e.Err)
}

// Unwrap returns what happened on the way.
func (e *LostAnswer) Unwrap() error { return e.Err }

// transport paces, counts, logs and repeats requests.
type transport struct {
	next    http.RoundTripper
	clock   Clock
	rand    func() float64
	log     func(Request)
	limiter *limiter
	lock    atomic.Pointer[Lock]
	// Whether anybody has answered, be it with an error.
	answered atomic.Bool

	mu      sync.Mutex
	sent    int
	limited time.Duration
	theirs  clockSkew // of Hetzner's clock before ours
}

// RoundTrip makes a request, as often as it takes and is safe.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var tries [len(verdictTries)]int
	for {
		resp, err := t.try(req)
		v := judge(req, resp, err)
		tries[v]++
		switch {
		case v == lost:
			return nil, lostAnswer(req, resp, err)
		case v == final || tries[v] >= t.mostTries(v, err):
			return resp, err
		}
		if err := t.waitFor(req.Context(), v, tries[v]-1); err != nil {
			return nil, err
		}
	}
}

// mostTries is how often a call is tried that came to nothing, for the same reason.
// Who answers nothing for as long as a connection may take is not asked again.
func (t *transport) mostTries(v verdict, err error) int {
	if v != failed || !neverSent(err) || t.answered.Load() {
		return verdictTries[v]
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return 1
	}
	return unheardTries
}

// try makes a request once, when the rate limit allows it. The body of the
// answer is in memory then.
func (t *transport) try(req *http.Request) (*http.Response, error) {
	defer t.limiter.done()
	if err := t.sleepLimited(req.Context(), t.limiter.take()); err != nil {
		return nil, err
	}
	if err := t.keep(req); err != nil {
		return nil, &notSent{err}
	}
	ctx, cancel := context.WithTimeout(req.Context(), requestTimeout)
	defer cancel()
	once := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		once.Body = body
	}
	start := t.clock.Now()
	resp, err := t.next.RoundTrip(once)
	if err == nil {
		err = buffer(resp)
	}
	t.account(resp, err)
	t.report(req, resp, err, t.clock.Now().Sub(start))
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// buffer reads the body of an answer into memory.
func buffer(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); err == nil {
		err = cerr
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// account counts a request and takes from the answer what it says about the
// limit and the time.
func (t *transport) account(resp *http.Response, err error) {
	t.mu.Lock()
	t.sent++
	if err == nil {
		if date, perr := http.ParseTime(resp.Header.Get("Date")); perr == nil {
			t.theirs.say(date.Sub(t.clock.Now()))
		}
	}
	t.mu.Unlock()
	if err == nil {
		t.answered.Store(true)
		t.limiter.answered(resp.Header, t.serverTime())
	}
}

// waitFor waits before the n-th repetition, from 0.
func (t *transport) waitFor(ctx context.Context, v verdict, n int) error {
	if v == limited {
		return t.sleepLimited(ctx, t.limiter.refused(n))
	}
	return t.clock.Sleep(ctx, backoff(n, firstWait, mostWait, t.rand()))
}

func (t *transport) sleepLimited(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t.mu.Lock()
	t.limited += d
	t.mu.Unlock()
	return t.clock.Sleep(ctx, d)
}

func (t *transport) stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{Requests: t.sent, Limited: t.limited, Remaining: t.limiter.left()}
}

// knowsTime reports whether an answer has told Hetzner's time.
func (t *transport) knowsTime() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.theirs.known()
}

func (t *transport) serverTime() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Without its monotonic part, which stands still while a laptop sleeps.
	return t.clock.Now().Round(0).Add(t.theirs.now)
}

// notSent is the error of a request that the run must not make any more.
type notSent struct{ error }

// Unwrap returns why.
func (e *notSent) Unwrap() error { return e.error }

// verdict says what to do after a try.
type verdict int

const (
	final   verdict = iota // the answer stands
	lost                   // nobody knows whether it had its effect
	failed                 // it failed on the way, and may be repeated
	busy                   // refused: somebody is changing the object
	limited                // refused: the rate limit
)

var verdictTries = [...]int{failed: failureTries, busy: busyTries, limited: limitedTries}

// judge decides about a try from the method and what came back.
func judge(req *http.Request, resp *http.Response, err error) verdict {
	var refused *notSent
	switch {
	case err != nil && req.Context().Err() != nil, errors.As(err, &refused):
		return final
	case err != nil:
		if repeatable(req.Method) || neverSent(err) {
			return failed
		}
		return lost
	case resp.StatusCode == http.StatusTooManyRequests:
		return limited
	case resp.StatusCode == http.StatusLocked, resp.StatusCode == http.StatusConflict:
		if code := codeOf(resp); code == "conflict" || code == "locked" {
			return busy
		}
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		if repeatable(req.Method) && torn(resp) {
			return failed
		}
	case resp.StatusCode >= 500, torn(resp):
		if repeatable(req.Method) {
			return failed
		}
		return lost
	}
	return final
}

// torn reports whether an answer of the API did not come whole. If the call had an
// effect, what it made has to be looked up. The page of something on the way that
// refused the call is no such answer.
func torn(resp *http.Response) bool {
	if resp.StatusCode == http.StatusNoContent {
		return false
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if resp.StatusCode >= 300 && len(body) > 0 && body[0] != '{' {
		return err != nil
	}
	return err != nil || !json.Valid(body)
}

// repeatable reports whether two calls do the same as one. A repeated DELETE
// that had its effect finds nothing, which callers take as done.
func repeatable(method string) bool { return method != http.MethodPost }

// neverSent reports whether there was no connection to send a request by.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

func lostAnswer(req *http.Request, resp *http.Response, err error) error {
	switch {
	case err != nil:
	case resp.StatusCode < 300:
		err = fmt.Errorf("HTTP status %d, and the rest of it is missing", resp.StatusCode)
	default:
		err = fmt.Errorf("HTTP status %d (%s)", resp.StatusCode, codeOf(resp))
	}
	return &LostAnswer{Method: req.Method, Path: req.URL.Path, Err: err}
}
