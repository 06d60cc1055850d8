// Package faultproxy stands between a client and the simulator of the Hetzner
// Cloud API, and lets some of what passes go wrong on the way: answers that are
// lost, cut, old, or somebody else's. The simulator's own faults are errors that
// the API means; these are what networks, proxies and caches make of it. Most
// effects are those of any API over HTTP, and that of Kubernetes has them too.
// Only tests import it.
package faultproxy

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
)

// Effect is what goes wrong with a request: it answers in the place of next, which
// it may ask or not. Effects are called by several goroutines at once.
type Effect func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Fault is an effect on some requests.
type Fault struct {
	// Method and Path restrict it to requests: "POST", "/servers/*/actions/*". The
	// path is a pattern of [path.Match], without /v1. Empty is any.
	Method, Path string
	// Query is in the query of the request, or empty.
	Query string
	// Skip is how many such requests pass before it strikes.
	Skip int
	// Times is how often it strikes: 0 is once, a negative number always.
	Times int
	As    Effect
}

// Proxy passes requests on, but for those that a fault strikes.
type Proxy struct {
	next http.Handler

	mu       sync.Mutex
	faults   []*Fault
	requests []string
}

// New returns a proxy without faults.
func New(next http.Handler) *Proxy { return &Proxy{next: next} }

// Inject adds a fault. Of several that fit a request, the first one strikes that
// is not used up.
func (p *Proxy) Inject(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	p.faults = append(p.faults, &f)
}

// Clear removes all faults, and forgets which requests there were.
func (p *Proxy) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults, p.requests = nil, nil
}

// Requests are those since the last [Proxy.Clear], as "POST /servers", that fit a
// method and a pattern; empty is any.
func (p *Proxy) Requests(method, pattern string) (found []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, request := range p.requests {
		m, at, _ := strings.Cut(request, " ")
		if fits(method, m) && fits(pattern, at) {
			found = append(found, request)
		}
	}
	return found
}

// ServeHTTP passes a request on, or lets a fault strike it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.next.ServeHTTP(w, r) // a way to somewhere else
		return
	}
	if as := p.strike(r); as != nil {
		as(w, r, p.next)
		return
	}
	p.next.ServeHTTP(w, r)
}

// strike returns the effect of a request, if there is one, and counts it.
func (p *Proxy) strike(r *http.Request) Effect {
	at := strings.TrimPrefix(r.URL.Path, "/v1")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r.Method+" "+at)
	for _, f := range p.faults {
		if f.Times == 0 || !fits(f.Method, r.Method) || !fits(f.Path, at) || !strings.Contains(r.URL.RawQuery, f.Query) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		f.Times--
		return f.As
	}
	return nil
}

// fits reports whether a text is of a pattern, of which an empty one is any.
func fits(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return pattern == "" || err == nil && ok
}

// ask lets a request have its effect, and returns the answer. The request can be
// asked again.
func ask(r *http.Request, next http.Handler) *httptest.ResponseRecorder {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has gone away
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return answer
}

// give answers as another answer does, with another body.
func give(w http.ResponseWriter, answer *httptest.ResponseRecorder, body []byte) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
}
