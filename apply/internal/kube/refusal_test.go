package kube

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
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
		{answerOf(t, http.StatusOK, ""), true},
		{answerOf(t, http.StatusOK, `{"kind": "ConfigMap", "meta`), true},
		{answerOf(t, http.StatusOK, "<html>sign in"), false},
		{&refusalError{status: 403}, false},
	} {
		if again := Unavailable(c.err); again != c.want {
			t.Errorf("%v: again %v", c.err, again)
		}
	}
}

// answerOf is the error of a request that was answered with a status and a body.
func answerOf(t *testing.T, status int, body string) error {
	t.Helper()
	c, err := newClient(Options{URL: "https://api.example.org", Clock: realClock{}}, faultproxy.Direct(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			if strings.HasPrefix(body, "{") {
				w.Header().Set("Content-Type", "application/json")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.in(configMaps, "a").get(t.Context(), "a")
	return err
}

// TestAbsent: only the API server says that there is no such object, and not
// somebody on the way, nor one that does not serve the kind now.
func TestAbsent(t *testing.T) {
	for body, want := range map[string]bool{
		refusing(http.StatusNotFound, "NotFound", `configmaps "a" not found`):                         true,
		refusing(http.StatusNotFound, "NotFound", "the server could not find the requested resource"): false,
		"404 page not found\n":                             false,
		"<html><body><h1>404 Not Found</h1></body></html>": false,
		"": false,
	} {
		if got := absent(answerOf(t, http.StatusNotFound, body)); got != want {
			t.Errorf("%q: absent %v", body, got)
		}
	}
}
