package nodes_test

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// roads lead to machines, and some of them nowhere.
type roads struct {
	reach.Transport
	to func(ctx context.Context, host string) error // nil: the way is open

	mu    sync.Mutex
	asked map[string]int // connections, by host
}

// Dial goes there.
func (r *roads) Dial(ctx context.Context, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	r.mu.Lock()
	r.asked[host]++
	r.mu.Unlock()
	if err := r.to(ctx, host); err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	return r.Transport.Dial(ctx, address)
}

// blackholed is a road to some machines on which everything is lost.
func blackholed(hosts ...string) func(context.Context, string) error {
	return func(ctx context.Context, host string) error {
		if len(hosts) > 0 && !slices.Contains(hosts, host) {
			return nil
		}
		<-ctx.Done()
		return os.ErrDeadlineExceeded
	}
}

// failing is a road that ends at once.
func failing(err error) func(context.Context, string) error {
	return func(context.Context, string) error { return err }
}

// slowKube is an API of Kubernetes that takes its time.
type slowKube struct {
	nodes.Kubernetes
	takes time.Duration
	asked int
}

// Registered lists nodes.
func (k *slowKube) Registered(ctx context.Context) ([]kube.Node, error) {
	k.asked++
	<-time.After(k.takes)
	return k.Kubernetes.Registered(ctx)
}

// TestDeadNodes: what does not answer costs a plan one wait, which all share; nobody
// is asked twice who does not answer or refuses, and who is slow is not dead.
func TestDeadNodes(t *testing.T) {
	const cp1, cp3, w1 = "192.0.2.1", "192.0.2.3", "192.0.2.4"
	noSuchHost := &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}
	for _, tt := range []struct {
		name   string
		to     func(context.Context, string) error
		slow   time.Duration // each answer of w-1
		kube   time.Duration
		within time.Duration
		away   string
		why    string
	}{
		{"all is well", failing(nil), 0, 0, 0, "", ""},
		{"one worker is blackholed", blackholed(w1), 0, 0, reach.ConnectWithin, "w-1", "i/o timeout"},
		{"one control plane of three is blackholed", blackholed(cp3), 0, 0, reach.ConnectWithin, "cp-3", "i/o timeout"},
		{"the first control plane is blackholed", blackholed(cp1), 0, 0, reach.ConnectWithin, "cp-1", "i/o timeout"},
		{"a worker is blackholed, and Kubernetes says nothing", blackholed(w1), 0, reach.ConnectWithin, reach.ConnectWithin, "w-1", "i/o timeout"},
		{"all are blackholed", blackholed(), 0, 0, reach.ConnectWithin, "cp-1 cp-2 cp-3 w-1", "i/o timeout"},
		{"all refuse", failing(syscall.ECONNREFUSED), 0, 0, 0, "cp-1 cp-2 cp-3 w-1", "connection refused"},
		{"no name is found", failing(noSuchHost), 0, 0, 0, "cp-1 cp-2 cp-3 w-1", "no such host"},
		{"a worker is slow", failing(nil), 3 * time.Second, 0, 25 * time.Second, "", ""},
		{"a worker hangs", failing(nil), time.Hour, 0, 30 * time.Second, "w-1", "no answer in time"},
	} {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := newWorld(t)
			w.made("cp-1", "cp-2", "cp-3", "w-1")
			roads := &roads{Transport: w.fleet, to: tt.to, asked: map[string]int{}}
			w.way = roads
			c := w.cluster()
			api := &slowKube{Kubernetes: w.kube, takes: tt.kube}
			c.Kubernetes = api
			if tt.slow > 0 {
				w.fleet.Inject(talossim.Fault{Machine: "w-1", Times: -1, As: talossim.Slow(tt.slow)})
			}
			begin := time.Now()
			p, err := w.plan(t.Context(), c, nodeplan.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(begin)
			if got := strings.Join(p.Unreachable, " "); got != tt.away || took > tt.within || !strings.Contains(p.String(), tt.why) {
				t.Errorf("away %q, after %v\n%s", got, took, p)
			}
			for host, n := range roads.asked {
				if n != 1 {
					t.Errorf("%s was asked %d times", host, n)
				}
			}
			if want := min(1, 4-len(p.Unreachable)); api.asked != want {
				t.Errorf("Kubernetes was asked %d times, want %d", api.asked, want)
			}
		}))
	}
}

// closed is a way to the nodes that leads through a server that does not answer.
type closed struct{ roads }

// Ready fails.
func (*closed) Ready(context.Context) error { return errors.New("server gw: does not answer\na hint") }

// TestClosedForNow: if what leads to the nodes does not answer, none of them is asked.
func TestClosedForNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "w-1")
		way := &closed{roads{Transport: w.fleet, to: blackholed(), asked: map[string]int{}}}
		w.way = way
		begin := time.Now()
		p, err := w.plan(t.Context(), w.cluster(), nodeplan.Policy{})
		if err != nil || len(p.Unreachable) != 2 || len(way.asked) > 0 || time.Since(begin) > 0 || !strings.Contains(p.String(), "(server gw: does not answer)") {
			t.Errorf("asked %v, after %v, %v\n%s", way.asked, time.Since(begin), err, p)
		}
	})
}
