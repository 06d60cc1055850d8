package kube

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// patient repeats what got no answer, or is to be asked again, as long as the
// connection has patience. Everything that is sent may be sent twice.
type patient struct{ *conn }

// RoundTrip sends a request until there is an answer that stays.
func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	begin := p.clock.Now()
	for n := 0; ; n++ {
		answer, body, err := p.exchange(r)
		pause, again := retryAfter(answer, body, err, n)
		if !again || p.soon && timedOut(err) || r.Context().Err() != nil || p.clock.Now().Add(pause).Sub(begin) > p.patience {
			return withBody(answer, body), err
		}
		if err := p.clock.Sleep(r.Context(), pause); err != nil {
			return nil, err
		}
	}
}

const (
	firstPause = 500 * time.Millisecond
	mostPause  = 10 * time.Second
)

// pauseBefore is how long to wait before the n-th repetition, from 0.
func pauseBefore(n int) time.Duration { return min(firstPause<<min(n, 8), mostPause) }

// retryAfter reports whether a request is worth repeating, and after how long;
// n counts the repetitions.
func retryAfter(answer *http.Response, body []byte, err error, n int) (pause time.Duration, again bool) {
	pause = pauseBefore(n)
	if err != nil {
		return pause, NotServing(err)
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		pause = max(pause, time.Duration(seconds)*time.Second)
	}
	begins := answer.StatusCode == http.StatusNotFound && bytes.Contains(body, []byte(noSystemNamespace))
	return pause, begins || passing(answer.StatusCode) && !bytes.Contains(body, []byte(wrongShape))
}

// noSystemNamespace is in the answer of an API server that has just begun to serve a new
// cluster, and is yet to make the namespaces that every cluster has.
const noSystemNamespace = `namespaces \"` + metav1.NamespaceSystem + `\" not found`

// passing reports whether a status is one of an API that may answer otherwise soon.
func passing(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// unrepeated are requests of client-go that it sends once. It would repeat some of
// them, by the clock of the machine.
type unrepeated struct{ rest.Interface }

func (u unrepeated) Verb(verb string) *rest.Request { return u.Interface.Verb(verb).MaxRetries(0) }
func (u unrepeated) Get() *rest.Request             { return u.Interface.Get().MaxRetries(0) }
func (u unrepeated) Post() *rest.Request            { return u.Interface.Post().MaxRetries(0) }
func (u unrepeated) Put() *rest.Request             { return u.Interface.Put().MaxRetries(0) }
func (u unrepeated) Delete() *rest.Request          { return u.Interface.Delete().MaxRetries(0) }

func (u unrepeated) Patch(pt types.PatchType) *rest.Request {
	return u.Interface.Patch(pt).MaxRetries(0)
}
