package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// TestAgain: what was lost on the way is sent again, what was refused is not.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("x509: certificate signed by unknown authority"), false},
		{&url.Error{Op: "Patch", Err: errors.New("http: server closed idle connection")}, true},
		{&url.Error{Op: "Patch", Err: io.EOF}, true},
		{syscall.ECONNRESET, true},
		{&silentError{err: syscall.ECONNREFUSED}, true},
		{&refusalError{status: 503}, true},
		{answerOf("GET", ""), true},
		{answerOf("GET", `{"kind": "ConfigMap", "meta`), true},
		{answerOf("GET", "<html>sign in"), false},
		{&refusalError{status: 403}, false},
	} {
		if _, again := retryAfter(c.err, 0); again != c.want {
			t.Errorf("%v: again %v", c.err, again)
		}
	}
}

// answerOf is the error of a request that was answered with 200 and a body.
func answerOf(method, body string) error {
	c := &Client{url: "https://api.example.org", clock: realClock{}, http: &http.Client{Transport: faultproxy.Direct(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))}}
	return c.do(context.Background(), method, "/version", nil, &map[string]any{})
}

// TestAbsent: only the API server says that there is no such object, and not
// somebody on the way, nor one that does not serve the kind now.
func TestAbsent(t *testing.T) {
	for body, want := range map[string]bool{
		refusing("NotFound", `configmaps "a" not found`, ""):                         true,
		refusing("NotFound", "the server could not find the requested resource", ""): false,
		"404 page not found\n":                             false,
		"<html><body><h1>404 Not Found</h1></body></html>": false,
		"": false,
	} {
		answer := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}}
		if got := absent(refusal(http.MethodGet, "/api/v1/namespaces/a/configmaps/a", answer, []byte(body))); got != want {
			t.Errorf("%q: absent %v", body, got)
		}
	}
}
