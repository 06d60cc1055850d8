package node

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"

	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
)

// closedPort is a way to a machine on which nothing listens yet.
type closedPort struct{ knocks atomic.Int64 }

func (c *closedPort) Dial(context.Context, string) (net.Conn, error) {
	c.knocks.Add(1)
	return nil, syscall.ECONNREFUSED
}

// TestEveryCallConnects: no call is told what an earlier one has seen, however
// soon after it comes: whoever looks sees how the node is now.
func TestEveryCallConnects(t *testing.T) {
	a, way := newAuthority(t), &closedPort{}
	client, err := Connect(Target{Name: "a", Address: "192.0.2.1"}, way, a.client(a, now), fixedNow)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for n := range 2000 {
		before := way.knocks.Load()
		if _, err := client.Version(t.Context()); diag.CodeOf(err) != diag.Remote {
			t.Fatal(err)
		}
		if way.knocks.Load() == before {
			t.Fatalf("call %d was answered without a look", n)
		}
	}
}

// TestCallsAtOnce: several calls at once over a connection that fails are each
// told why, and none of them that another one has ended it.
func TestCallsAtOnce(t *testing.T) {
	a, way := newAuthority(t), &closedPort{}
	client, err := Connect(Target{Name: "a", Address: "192.0.2.1"}, way, a.client(a, now), fixedNow)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				_, err := client.Version(t.Context())
				checkError(t, err, diag.Remote, "read its version: no connection: connection refused")
			}
		})
	}
	all.Wait()
}

// countedWay connects from this machine, and counts.
type countedWay struct {
	reach.Direct

	count atomic.Int64
}

func (c *countedWay) Dial(ctx context.Context, address string) (net.Conn, error) {
	c.count.Add(1)
	return c.Direct.Dial(ctx, address)
}

// TestSilentConnection: a connection stays as long as it is of use. One over which
// no answer came in time is not used again, but what goes on over it goes on.
func TestSilentConnection(t *testing.T) {
	a, way := newAuthority(t), &countedWay{}
	hangs := make(chan bool, 1)
	f := &fakeNode{data: []string{"one", "two"}, version: func(ctx context.Context) (*machine.VersionResponse, error) {
		select {
		case <-hangs:
			// It hangs longer than the call may take: at the end of that, which
			// it knows too, it would answer that the time is over.
			<-t.Context().Done()
			return nil, t.Context().Err()
		default:
			return answers(nil).version(ctx)
		}
	}}
	client, err := Connect(f.start(t, a, loopback(), a), way, a.client(a, now), fixedNow)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ask := func(ctx context.Context, want diag.Code, connections int64) {
		t.Helper()
		if _, err := client.Version(ctx); diag.CodeOf(err) != want {
			t.Error(err)
		}
		if n := way.count.Load(); n != connections {
			t.Errorf("%d connections, want %d", n, connections)
		}
	}
	ask(t.Context(), diag.OK, 1)
	ask(t.Context(), diag.OK, 1)
	stream, err := client.machine.EtcdSnapshot(t.Context(), &machine.EtcdSnapshotRequest{})
	if err != nil {
		t.Fatal(err)
	}
	hangs <- true
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	ask(ctx, diag.Remote, 1)
	ask(t.Context(), diag.OK, 2)
	ask(t.Context(), diag.OK, 2)
	var brought strings.Builder
	if err := client.copy("read", stream, &brought); err != nil || brought.String() != "onetwo" {
		t.Errorf("%q, %v", brought.String(), err)
	}
}
