package cloud

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
)

// start is when the scripted clocks of the tests begin.
var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// scriptedClock moves only when somebody sleeps.
type scriptedClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *scriptedClock { return &scriptedClock{now: start} }

func (c *scriptedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *scriptedClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil {
		c.now = c.now.Add(d)
		c.slept = append(c.slept, d)
	}
	return ctx.Err()
}

func (c *scriptedClock) total() (sum time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

const canary = "canary-token-3b9f"

// serve returns a client of a server with a handler, and its clock.
func serve(t *testing.T, handler http.HandlerFunc, change ...func(*Options)) (*Client, *scriptedClock) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	clock := newClock()
	o := Options{
		Endpoint: server.URL + "/v1",
		Token:    secret.New(canary),
		HTTP:     server.Client().Transport,
		Version:  "test",
		Clock:    clock,
		Rand:     func() float64 { return 1 },
	}
	for _, c := range change {
		c(&o)
	}
	return New(o), clock
}

// answer writes a JSON answer.
func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// fail writes an error of the API.
func fail(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, `{"error":{"code":"`+code+`","message":"`+message+`","details":null}}`)
}
