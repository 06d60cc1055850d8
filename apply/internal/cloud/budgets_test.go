package cloud

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
)

// Clients of one project know what each other's answers say of its rate limit; those of
// another project, and those without budgets, do not.
func TestBudgetsAreOfAProject(t *testing.T) {
	var left atomic.Int64
	left.Store(100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit-Limit", "3600")
		w.Header().Set("RateLimit-Remaining", strconv.FormatInt(left.Add(-1), 10))
		_, _ = w.Write([]byte(`{"locations": []}`))
	}))
	defer server.Close()
	var shared sync.Map
	client := func(token string, b *sync.Map) *Client {
		return New(Options{Endpoint: server.URL, Token: secret.New(token), HTTP: http.DefaultTransport, Clock: newClock(), Rand: func() float64 { return 0 }, Budgets: b})
	}
	one, same, other, alone := client("token-of-one-project-0123", &shared), client("token-of-one-project-0123", &shared), client("token-of-another-project-0", &shared), client("token-of-one-project-0123", nil)
	if _, err := one.api.Location.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		c    *Client
		want int
	}{{"the one that asked", one, 99}, {"another one of the project", same, 99}, {"one of another project", other, -1}, {"one without budgets", alone, -1}} {
		if got := tt.c.Stats().Remaining; got != tt.want {
			t.Errorf("%s knows of %d requests left, want %d", tt.name, got, tt.want)
		}
	}
	if one.Stats().Requests != 1 || same.Stats().Requests != 0 {
		t.Errorf("requests are counted for each client: %d and %d", one.Stats().Requests, same.Stats().Requests)
	}
}
