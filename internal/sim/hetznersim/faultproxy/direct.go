package faultproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"syscall"
)

// Direct is a connection to a handler without a network, for a client of
// [http.RoundTripper]. Effects that end the connection are the errors that a
// network would have: [LostBefore] and [LostAfter], [CutOff], [Away], [TimedOut].
func Direct(h http.Handler) http.RoundTripper { return direct{h} }

type direct struct{ http.Handler }

// RoundTrip lets the handler answer.
func (d direct) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		switch gone := recover(); gone {
		case nil:
		case http.ErrAbortHandler:
			err = &net.OpError{Op: "read", Net: "tcp", Err: io.EOF}
		case errAway:
			err = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		case errTimedOut:
			err = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
		default:
			panic(gone)
		}
	}()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	resp = w.Result()
	if n, err := strconv.Atoi(resp.Header.Get("Content-Length")); err == nil && n > w.Body.Len() {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(w.Body.Bytes()), broken{}))
	}
	return resp, r.Context().Err()
}

// broken is the rest of an answer whose connection has gone.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// What effects end a request of [Direct] with. A real server takes them for a
// mistake of its handler, and closes the connection.
var (
	errAway     = errors.New("connection refused")
	errTimedOut = errors.New("the client has waited for too long")
)

// Away lets nobody listen: no connection can be opened.
func Away() Effect {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(errAway) }
}

// TimedOut gives no answer within the time that the client waits, which waited
// lets pass, whether or not the request has its effect.
func TimedOut(effect bool, waited func()) Effect {
	return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		if effect {
			ask(r, next)
		}
		waited()
		panic(errTimedOut)
	}
}

// CutOff lets the request have its effect, and closes the connection in the middle
// of the answer, which was to be longer.
func CutOff() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := ask(r, next)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()+1))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
	}
}
