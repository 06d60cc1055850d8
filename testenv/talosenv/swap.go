//go:build linux

package talosenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/jumphost"
	"github.com/talosgen/talosgen/testenv/patience"
)

// Swaps is an HTTP proxy before nodes that can be swapped. It answers the calls that
// install Talos and reboot, which nodes in containers refuse; all others it passes on.
// A node that reboots is started anew, with all that it has stored: with the release that
// was installed, or the one that it has.
//
// A swapped node has been upgraded as far as its state goes: its configuration, its keys,
// etcd and what the kubelet keeps. No installer and no bootloader has run, and the kernel
// is the host's.
type Swaps struct {
	t       testing.TB
	cluster *Cluster
	server  *http.Server
	url     string
	before  map[netip.AddrPort]*interposer
	busy    sync.WaitGroup
}

// StartSwaps puts the proxy before the nodes of a cluster that was started with
// [Options.Swap]. The configuration is that of a control plane node, whose authority signs
// what the proxy needs.
func (c *Cluster) StartSwaps(t testing.TB, machineConfig []byte) *Swaps {
	t.Helper()

	s := &Swaps{t: t, cluster: c, before: map[netip.AddrPort]*interposer{}}

	for _, n := range c.Nodes() {
		i, err := newInterposer(s, n, machineConfig)
		if err != nil {
			t.Fatal(err)
		}

		s.before[netip.AddrPortFrom(n.Address, apiPort)] = i
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	s.server, s.url = &http.Server{Handler: s}, "http://"+listener.Addr().String()

	go func() { _ = s.server.Serve(listener) }() // ends by stop

	t.Cleanup(s.stop)

	return s
}

// URL is that of the proxy.
func (s *Swaps) URL() string { return s.url }

// Installations are how often a node was given a system, and how often it has rebooted.
func (s *Swaps) Installations(n *Node) (installed, rebooted int) {
	i := s.before[netip.AddrPortFrom(n.Address, apiPort)]

	i.mu.Lock()
	defer i.mu.Unlock()

	return i.installs, i.reboots
}

// stop ends the proxy, and waits for nodes that reboot.
func (s *Swaps) stop() {
	if err := s.server.Close(); err != nil {
		s.t.Error(err)
	}

	for _, i := range s.before {
		if err := i.server.Close(); err != nil {
			s.t.Error(err)
		}
	}

	s.busy.Wait()
}

// ServeHTTP connects to the API of a node by way of its interposer, and to everything
// else directly.
func (s *Swaps) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "it answers CONNECT only", http.StatusMethodNotAllowed)
		return
	}

	address, err := netip.ParseAddrPort(r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}

	if i := s.before[address]; i != nil {
		if here := open(w); here != nil {
			i.incoming.take(here)
		}

		return
	}

	there, err := s.cluster.Dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()

	if here := open(w); here != nil {
		defer here.Close()
		jumphost.Pass(here, there)
	}
}

// open is the connection of a client that has asked for one; nil if it has gone away.
func open(w http.ResponseWriter) net.Conn {
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return nil
	}

	if _, err := here.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		_ = here.Close()
		return nil
	}

	return here
}

// offWithin is how long the programs of a node may take to end.
const offWithin = time.Minute

// restart ends a node as Talos ends when its container is stopped, and starts it with a
// system.
func (n *Node) restart(ctx context.Context, c *Cluster, with system) error {
	if err := n.process.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}

	within, cancel := patience.Context(ctx, offWithin)
	defer cancel()

	select {
	case <-n.process.exited:
	case <-within.Done(): // as when its power is cut
	}

	if err := errors.Join(ctx.Err(), n.Stop()); err != nil {
		return err
	}

	n.runs = with
	if err := n.start(c); err != nil {
		return fmt.Errorf("%s: starting it with Talos %s: %w", n.Name, with.release, err)
	}

	return nil
}
