package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/internal/diag"
)

// proxyListen is where a proxy to private nodes listens, unless a flag says where.
const proxyListen = "127.0.0.1:6480"

func (a nodeAccessCommand) proxyCommand() *cli.Command {
	return &cli.Command{
		Name:      "proxy",
		Usage:     "lead kubectl and talosctl to private nodes, through the NAT gateway",
		ArgsUsage: "<env>",
		Description: `Listens on loopback as an HTTP proxy, and passes connections on by SSH through the
NAT gateway, whose host key is in the tree: to ports 6443 and 50000 in the network
of the cluster, and to nothing else. kubectl and talosctl use it by the variable
HTTPS_PROXY. The gateway lets your address in for as long as that. It ends with
Ctrl-C, or after --for.

Examples:
   talosgen access proxy prod
   talosgen access proxy prod --ssh-key ~/.ssh/prod --listen 127.0.0.1:7000`,
		Flags: sessionFlags(append(nodeFlags(), durationFlag(),
			&cli.StringFlag{Name: flagListen, Usage: "`ADDRESS` on loopback to listen at", Value: proxyListen})...),
		Action: func(c *cli.Context) error {
			return a.clusters.read(c, func(s *session) error { return a.proxy(c, s) })
		},
	}
}

// proxy passes connections on until it is interrupted.
func (a nodeAccessCommand) proxy(c *cli.Context, s *session) error {
	listener, err := listenLoopback(c.Context, c.String(flagListen))
	if err != nil {
		return err
	}
	defer listener.Close()
	lasts := c.Duration(flagFor)
	dial, err := apply.Access{Session: s.Session}.Proxy(c.Context, lasts)
	s.stop()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, lasts)
	defer cancel()
	server := &http.Server{Handler: proxied(http.NotFoundHandler(), reporting(dial, s.out)), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer server.Close()
	s.out.say("a proxy to the nodes of %s listens, for %v; interrupt to stop it. In another terminal:", s.env.Infrastructure.Cluster, lasts)
	s.out.say("  export HTTPS_PROXY=http://%s", listener.Addr())
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return diag.On("access proxy", "cannot serve: %v", err).WithCode(diag.Remote).WithCause(err)
	}
}

// reporting prints why connections fail: clients of a proxy hardly do.
func reporting(dial image.Dialer, out *console) image.Dialer {
	var one sync.Mutex
	return func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := dial(ctx, address)
		if err != nil && ctx.Err() == nil {
			one.Lock()
			defer one.Unlock()
			out.printError(err)
		}
		return conn, err
	}
}
