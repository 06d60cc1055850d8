package kube

import (
	"errors"
	"io"
	"net/url"
	"syscall"
	"testing"
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
		{&refusalError{status: 403}, false},
	} {
		if _, again := retryAfter(c.err, 0); again != c.want {
			t.Errorf("%v: again %v", c.err, again)
		}
	}
}
