package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// TestRepetition: what happened to the first try of a call, and what the client
// makes of it. The second try is answered.
func TestRepetition(t *testing.T) {
	drop := func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	code := func(status int, code string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { fail(w, status, code, "no") }
	}
	page := func(w http.ResponseWriter) { http.Error(w, "<html>", http.StatusBadGateway) }
	for _, tt := range []struct {
		name             string
		first            func(http.ResponseWriter)
		get, put, post   bool // whether the call is made again
		postLost, waited bool
	}{
		{"connection closed", drop, true, true, false, true, true},
		{"server_error", code(500, "server_error"), true, true, false, true, true},
		{"bad_gateway", code(502, "bad_gateway"), true, true, false, true, true},
		{"a proxy's page", page, true, true, false, true, true},
		{"unavailable", code(503, "unavailable"), true, true, false, true, true},
		{"timeout", code(504, "timeout"), true, true, false, true, true},
		{"conflict", code(409, "conflict"), true, true, true, false, true},
		{"locked", code(423, "locked"), true, true, true, false, true},
		{"rate limit", code(429, "rate_limit_exceeded"), true, true, true, false, true},
		{"uniqueness_error", code(409, "uniqueness_error"), false, false, false, false, false},
		{"protected", code(423, "protected"), false, false, false, false, false},
		{"invalid_input", code(422, "invalid_input"), false, false, false, false, false},
		{"not_found", code(404, "not_found"), false, false, false, false, false},
		{"maintenance", code(403, "maintenance"), false, false, false, false, false},
	} {
		for method, again := range map[string]bool{"GET": tt.get, "PUT": tt.put, "DELETE": tt.put, "POST": tt.post} {
			t.Run(tt.name+" "+method, func(t *testing.T) {
				tries := 0
				c, clock := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if body, _ := io.ReadAll(r.Body); method == "POST" && string(body) != "body" {
						t.Errorf("try %d has the body %q", tries, body)
					}
					if tries++; tries == 1 {
						tt.first(w)
						return
					}
					answer(w, 200, `{}`)
				})
				err := call(c, method)
				if again != (tries == 2) || again != (err == nil) {
					t.Errorf("%d tries, error %v", tries, err)
				}
				var lost *LostAnswer
				if errors.As(err, &lost) != (tt.postLost && method == "POST") {
					t.Errorf("error %v", err)
				}
				if again && (clock.total() > 0) != tt.waited {
					t.Errorf("waited %v", clock.slept)
				}
				if got := c.Stats().Requests; got != tries {
					t.Errorf("counted %d requests of %d", got, tries)
				}
			})
		}
	}
}

func call(c *Client, method string) error {
	var body io.Reader
	if method == "POST" {
		body = strings.NewReader("body")
	}
	req, err := c.api.NewRequest(context.Background(), method, "/things/1", body)
	if err != nil {
		return err
	}
	_, err = c.api.Do(req, nil)
	return err
}

// TestRepetitionEnds: no call is repeated forever.
func TestRepetitionEnds(t *testing.T) {
	for _, tt := range []struct {
		status     int
		code       string
		tries      int
		atMostWait time.Duration
	}{
		{502, "bad_gateway", failureTries, time.Minute},
		{423, "locked", busyTries, 10 * time.Minute},
		{429, "rate_limit_exceeded", limitedTries, 40 * time.Hour},
	} {
		t.Run(tt.code, func(t *testing.T) {
			tries := 0
			c, clock := serve(t, func(w http.ResponseWriter, _ *http.Request) { tries++; fail(w, tt.status, tt.code, "no") })
			err := call(c, "GET")
			if !hcloud.IsError(err, hcloud.ErrorCode(tt.code)) || tries != tt.tries || clock.total() > tt.atMostWait {
				t.Errorf("%d tries in %s, error %v", tries, clock.total(), err)
			}
		})
	}
}

// TestNeverSent: without a connection nothing was sent, so a POST is repeated too.
// Before anybody has answered that is done once, and not at all if the address is
// silent: whoever has no network is told so at once.
func TestNeverSent(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	silent := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	for _, tt := range []struct {
		name   string
		err    error
		before bool // somebody has answered before
		tries  int
		waited time.Duration
	}{
		{"refused", refused, false, unheardTries, firstWait},
		{"refused by a proxy", &net.OpError{Op: "proxyconnect", Err: refused}, false, unheardTries, firstWait},
		{"no such host", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}, false, unheardTries, firstWait},
		{"no answer", silent, false, 1, 0},
		{"refused in the middle of a run", refused, true, failureTries, time.Minute},
		{"no answer in the middle of a run", silent, true, failureTries, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tries, heard := 0, !tt.before
			c, clock := serve(t, func(http.ResponseWriter, *http.Request) {}, func(o *Options) {
				o.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
					if !heard {
						heard = true
						return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
					}
					tries++
					return nil, tt.err
				})
			})
			if tt.before {
				if err := call(c, "GET"); err != nil {
					t.Fatal(err)
				}
			}
			err := call(c, "POST")
			var lost *LostAnswer
			if err == nil || tries != tt.tries || errors.As(err, &lost) || clock.total() > tt.waited {
				t.Errorf("%d tries in %s, error %v", tries, clock.total(), err)
			}
		})
	}
}

// TestInterruptedCall: a call that is given up is not repeated, and a wait ends.
func TestInterruptedCall(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	tries := 0
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { tries++; cancel(); fail(w, 502, "bad_gateway", "no") })
	req, err := c.api.NewRequest(ctx, "GET", "/things", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.api.Do(req, nil); !errors.Is(err, context.Canceled) || tries != 1 {
		t.Errorf("%d tries, error %v", tries, err)
	}
}

// TestInterruptedAnswer: an answer that comes just as its call is given up counts,
// unless it says that the call is to be made again.
func TestInterruptedAnswer(t *testing.T) {
	for status, interrupted := range map[int]bool{200: false, 502: true} {
		ctx, cancel := context.WithCancel(context.Background())
		tries := 0
		c, _ := serve(t, func(http.ResponseWriter, *http.Request) {}, func(o *Options) {
			o.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
				tries++
				cancel()
				return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
			})
		})
		req, err := c.api.NewRequest(ctx, "GET", "/things", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.api.Do(req, nil); errors.Is(err, context.Canceled) != interrupted || !interrupted && err != nil || tries != 1 {
			t.Errorf("%d: %d tries, error %v", status, tries, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestServerTime is about the clock that locks go by.
func TestServerTime(t *testing.T) {
	theirs := start.Add(-42 * time.Minute)
	c, clock := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", theirs.Format(http.TimeFormat))
		answer(w, 200, `{}`)
	})
	if got := c.ServerTime(); !got.Equal(start) {
		t.Errorf("before an answer %s", got)
	}
	if err := call(c, "GET"); err != nil {
		t.Fatal(err)
	}
	_ = clock.Sleep(context.Background(), time.Minute)
	if got, want := c.ServerTime(), theirs.Add(time.Minute); !got.Equal(want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLog: -v shows every try, and no token.
func TestLog(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	tries := 0
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit-Limit", "3600")
		w.Header().Set("RateLimit-Remaining", "3599")
		if tries++; tries == 1 {
			fail(w, 423, "locked", canary+" is not printed")
			return
		}
		answer(w, 200, `{}`)
	}, func(o *Options) {
		o.Log = func(r Request) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, r.String())
		}
	})
	if err := call(c, "POST"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"POST /v1/things/1: 423 locked (0 ms, 3599 requests left)",
		"POST /v1/things/1: 200 (0 ms, 3599 requests left)",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if text := fmt.Sprintf("%v %+v", c.wire.limiter.left(), lines); strings.Contains(text, canary) {
		t.Errorf("the token is in %q", text)
	}
}

// TestTokenInNoError: whatever goes wrong, the token stays out of the error.
func TestTokenInNoError(t *testing.T) {
	for name, next := range map[string]roundTrip{
		"network": func(*http.Request) (*http.Response, error) { return nil, errors.New("unreachable") },
		"refused": func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Authorization") != "Bearer "+canary {
				t.Error("no token was sent")
			}
			w := &http.Response{StatusCode: 401, Header: http.Header{"Content-Type": {"application/json"}}, Request: r}
			w.Body = io.NopCloser(strings.NewReader(`{"error":{"code":"unauthorized","message":"unable to authenticate"}}`))
			return w, nil
		},
	} {
		for _, method := range []string{"GET", "POST"} {
			c, _ := serve(t, nil, func(o *Options) { o.HTTP = next })
			err := explain("the project", "read", call(c, method))
			if err == nil || strings.Contains(fmt.Sprintf("%s %+v", err, err), canary) {
				t.Errorf("%s %s: %v", name, method, err)
			}
		}
	}
}
