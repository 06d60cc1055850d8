// Package otelhttp takes the place of OpenTelemetry's transport for HTTP, with which
// Google's libraries measure their requests. No measurement leaves this program: nothing
// that would send one is linked (see decision 0018). It has what these libraries call.
package otelhttp

import "net/http"

// Option would say what is measured.
type Option struct{}

// WithSpanOptions is an option that changes nothing.
func WithSpanOptions(...any) Option { return Option{} }

// NewTransport returns the transport, or Go's own if there is none.
func NewTransport(base http.RoundTripper, _ ...Option) http.RoundTripper {
	if base == nil {
		return http.DefaultTransport
	}
	return base
}
