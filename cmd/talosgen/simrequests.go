package main

import (
	"net/http"
	"sync"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// logged shows the requests that a simulator has answered.
func (m simCommand) logged(sim *hetznersim.Sim, show bool) http.Handler {
	if !show {
		return sim
	}
	var line sync.Mutex
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		status := &statusWriter{ResponseWriter: rw}
		sim.ServeHTTP(status, r)
		line.Lock()
		defer line.Unlock()
		m.out.say("%s %s: %d", r.Method, r.URL.RequestURI(), status.status)
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status and sends it.
func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
