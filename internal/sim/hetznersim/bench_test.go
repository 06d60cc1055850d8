package hetznersim_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// BenchmarkCalls: calls of a project with 300 servers, without a network between.
func BenchmarkCalls(b *testing.B) {
	sim := hetznersim.New(hetznersim.Options{RateLimit: -1, ActionTime: hetznersim.Instant})
	call := func(method, path, body string) {
		b.Helper()
		r := httptest.NewRequest(method, "/v1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+sim.Token())
		w := httptest.NewRecorder()
		if sim.ServeHTTP(w, r); w.Code >= 300 {
			b.Fatal(w.Body)
		}
	}
	call(http.MethodPost, "/firewalls", `{"name": "a", "apply_to": [{"type": "label_selector", "label_selector": {"selector": "role in (worker,x)"}}]}`)
	for i := range 300 {
		call(http.MethodPost, "/servers", fmt.Sprintf(`{"name": "s%d", "server_type": "cx23", "image": "debian-13", "labels": {"role": "worker"}}`, i))
	}
	for _, c := range []struct{ name, method, path, body string }{
		{"page", http.MethodGet, "/servers?per_page=50", ""},
		{"server", http.MethodGet, "/servers?name=s200", ""},
		{"selector", http.MethodGet, "/servers?label_selector=role%3Dx", ""},
		{"change", http.MethodPut, "/firewalls/100000001", `{"labels": {}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				call(c.method, c.path, c.body)
			}
			sim.ResetCalls()
		})
	}
	b.Run("snapshot", func(b *testing.B) {
		for range b.N {
			sim.Restore(sim.Snapshot())
		}
	})
}
