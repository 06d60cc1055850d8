package main

import (
	"net"
	"net/http"
	"time"
)

// connectWithin is how long a web server may take to accept a connection.
const connectWithin = 10 * time.Second

// webTransport is Go's own, which waits for a connection for half a minute:
// without a network the error comes sooner.
func webTransport() http.RoundTripper {
	own, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	quick := own.Clone()
	quick.DialContext = (&net.Dialer{Timeout: connectWithin, KeepAlive: 30 * time.Second}).DialContext
	return quick
}
