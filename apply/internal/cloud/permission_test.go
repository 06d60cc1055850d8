package cloud

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

func TestMayWrite(t *testing.T) {
	clock := hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	sim := hetznersim.New(hetznersim.Options{Clock: clock, Token: "all", ReadOnlyToken: "some"})
	server := httptest.NewServer(sim)
	defer server.Close()
	for token, want := range map[string]string{"all": "yes", "some": "no", "none": "error"} {
		c := New(Options{
			Endpoint: server.URL + "/v1", Token: secret.New(token), HTTP: http.DefaultTransport,
			Clock: clock, Rand: func() float64 { return 0 },
		})
		may, err := c.MayWrite(t.Context())
		got := map[bool]string{true: "yes", false: "no"}[may]
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("token %q: %s (%v), want %s", token, got, err, want)
		}
	}
}
