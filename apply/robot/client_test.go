package robot

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// TestLogin: a login that failed is the only request, whatever is asked after it.
func TestLogin(t *testing.T) {
	w := newWorld(t)
	p := w.process(1)
	p.Client = w.client(mortal{p, w.sim}, "canary-wrong-password", nil)
	for range 3 {
		err := p.run(w.target())
		if err == nil || diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), "refuses the user or the password") || strings.Contains(err.Error(), "canary") {
			t.Errorf("error %v", err)
		}
	}
	if calls := w.sim.Calls(); len(calls) != 1 {
		t.Errorf("requests: %v", calls)
	}
}

// TestLimit: Robot lets in 200 requests for servers in an hour.
func TestLimit(t *testing.T) {
	w := newWorld(t)
	c := w.process(1).Client
	for n := range 201 {
		_, err := c.Server(t.Context(), number)
		want := ""
		if n == 200 {
			want = "error: Hetzner Robot: GET /server/321: the limit of 200 requests in 1h0m0s is reached\n  other programs with this account count as well"
		}
		if got := fmt.Sprint("error: ", err); want != "" && !strings.HasPrefix(got, want) || want == "" && err != nil {
			t.Fatalf("request %d: %v", n+1, err)
		}
	}
}

// TestErrors: what Robot answers, and what people read.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		want   string
		calls  int
	}{
		{404, `{"error":{"status":404,"code":"SERVER_NOT_FOUND","message":"Server not found"}}`, "GET /server/1: Server not found (SERVER_NOT_FOUND)\n  robotServer in cluster.yaml is the number that Robot shows", 1},
		{400, `{"error":{"status":400,"code":"INVALID_INPUT","message":"invalid input","missing":["os"],"invalid":["a\u001b[1m"]}}`, `invalid input (INVALID_INPUT): os, a\x1b[1m`, 1},
		{403, `{"error":{"status":403,"code":"RATE_LIMIT_EXCEEDED","message":"rate limit exceeded","max_request":50,"interval":3600}}`, "the limit of 50 requests in 1h0m0s is reached", 1},
		{503, `<html>`, "it is in maintenance\n  try again later", 3},
		{502, ``, "HTTP status 502", 3},
		{500, `{"error":{"status":500,"code":"RESET_FAILED","message":"no"}}`, "no (RESET_FAILED)", 1},
		{302, `elsewhere`, "HTTP status 302", 1},
		{200, `{"server": 7}`, "the answer to GET /server/1 cannot be read", 1},
	} {
		w := newWorld(t)
		p, calls := w.process(1), 0
		c := w.client(mortal{p, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			calls++
			rw.WriteHeader(tt.status)
			_, _ = rw.Write([]byte(tt.body))
		})}, password, nil)
		_, err := c.Server(t.Context(), 1)
		if err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Remote || calls != tt.calls {
			t.Errorf("%d %s: %v (exit code %d, %d requests)", tt.status, tt.body, err, diag.CodeOf(err), calls)
		}
	}
}

// TestEndpoints: the password is sent to https, or to this machine.
func TestEndpoints(t *testing.T) {
	for endpoint, want := range map[string]string{
		"": "", "https://robot.example.com": "", "http://127.0.0.1:80": "",
		"http://robot.example.com":      "is not https",
		"https://a:canary@robot.test":   "has a password in it",
		"robot.example.com":             "is not a URL",
		"https://robot.example.com/%zz": "is not a URL",
	} {
		_, err := New(Account{Endpoint: endpoint, User: secret.New("u"), Password: secret.New("p")})
		if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
