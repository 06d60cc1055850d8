package readonly_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/readonly"
)

// counter counts what is sent.
type counter int

// RoundTrip answers nothing.
func (c *counter) RoundTrip(*http.Request) (*http.Response, error) {
	*c++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestTransport(t *testing.T) {
	for _, c := range []struct {
		method, path, upgrade string
		sent                  bool
	}{
		{"GET", "/v1/servers", "", true},
		{"HEAD", "/v1/servers", "", true},
		{"GET", "/api/v1/namespaces/default/pods/executor", "", true},
		{"POST", "/v1/servers", "", false},
		{"PUT", "/v1/servers/1", "", false},
		{"DELETE", "/v1/servers/1", "", false},
		{"PATCH", "/api/v1/nodes/a?dryRun=All", "", false},
		{"CONNECT", "/", "", false},
		{"get", "/v1/servers", "", false},
		{"GET", "/api/v1/namespaces/default/pods/a/exec", "", false},
		{"GET", "/api/v1/nodes/a/proxy/run", "", false},
		{"GET", "/api/v1/pods", "websocket", false},
	} {
		var sent counter
		r, err := http.NewRequestWithContext(context.Background(), c.method, "https://api.example"+c.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if c.upgrade != "" {
			r.Header.Set("Upgrade", c.upgrade)
		}
		answer, err := readonly.Transport{Next: &sent}.RoundTrip(r)
		if answer != nil {
			_ = answer.Body.Close()
		}
		if (sent == 1) != c.sent || (err == nil) != c.sent {
			t.Errorf("%s %s: sent %d times, error %v", c.method, c.path, sent, err)
		}
		if err != nil && !strings.Contains(err.Error(), "nothing was sent") {
			t.Errorf("the error is %q", err)
		}
	}
}
