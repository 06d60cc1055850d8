package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// simulated is where a simulated project is, and what it has.
type simulated struct {
	proxy, token string
	nodes        bool
}

// variables lead talosgen, and other programs, to it.
func (p simulated) variables() []string {
	all := []string{endpointVariable + "=" + p.proxy + "/v1", tokenVariable + "=" + p.token, proxyVariable + "=" + p.proxy}
	if p.nodes {
		all = append(all, simulatedNodes+"="+runKubernetes)
	}
	return all
}

// lookup finds a variable among them.
func (p simulated) lookup(name string) (string, bool) {
	for _, variable := range p.variables() {
		if value, found := strings.CutPrefix(variable, name+"="); found {
			return value, true
		}
	}
	return "", false
}

// fetchPicture stands for the download of an image, without a network.
func fetchPicture(_ context.Context, url string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(strings.Repeat("in place of "+url+"\n", 2000))), nil
}

// firstOf connects to whom one of several ways leads: the last one's error counts.
func firstOf(ways ...image.Dialer) image.Dialer {
	return func(ctx context.Context, address string) (conn net.Conn, err error) {
		for _, dial := range ways {
			if conn, err = dial(ctx, address); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
}

// scaled is how long actions take, so many times as fast as at Hetzner.
func scaled(speed float64) func(string) time.Duration {
	if speed == 0 {
		return hetznersim.Instant
	}
	return func(command string) time.Duration {
		return time.Duration(float64(hetznersim.DefaultActionTime(command)) / speed)
	}
}

// listenLoopback listens where only this machine can connect: the API has no
// encryption here.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err == nil {
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			err = errors.New("not an address of loopback")
		}
	}
	if err != nil {
		return nil, diag.On("--"+flagListen, "%q: %v", address, err).
			WithHint("such as 127.0.0.1:8443 or [::1]:0: only this machine may connect").WithCode(diag.Usage)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, diag.On("--"+flagListen, "%v", err).WithHint("port 0 is any free one").WithCode(diag.Usage).WithCause(err)
	}
	return listener, nil
}
