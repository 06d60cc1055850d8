package node

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"github.com/talosgen/talosgen/internal/diag"
)

// inMemory is a way to a node without a network, so that time is simulated.
type inMemory struct{ *bufconn.Listener }

func (m inMemory) Dial(ctx context.Context, _ string) (net.Conn, error) {
	return m.DialContext(ctx)
}

// givesUp is a pull whose deadline the node notices before its client does.
const givesUp = -1

// olderNode is one of before Talos 1.13, whose pulls take a while.
func olderNode(t *testing.T, pull time.Duration) *Client {
	a, way := newAuthority(t), inMemory{bufconn.Listen(1 << 16)}
	f := &fakeNode{pull: pull}
	f.serve(t, way, a, loopback(), a)
	client, err := Connect(Target{Name: "a", Address: "127.0.0.1"}, way, a.client(a, now), fixedNow)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestSlowPull: a pull that tells nothing has its whole time, and not more.
func TestSlowPull(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		code  diag.Code
		says  []string
	}{
		{time.Second, diag.OK, nil},
		{4 * time.Minute, diag.OK, nil},
		{givesUp, diag.NotReady, []string{"pull an image: there was no progress with image"}},
		{11 * time.Minute, diag.NotReady, []string{"pull an image: there was no progress with image"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, err := olderNode(t, c.takes).Pull(t.Context(), "image")
			checkError(t, err, c.code, c.says...)
		})
	}
}

// TestInterruptedPull: a run that is interrupted has not waited for too long.
func TestInterruptedPull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
		defer interrupt()
		if _, err := olderNode(t, time.Hour).Pull(ctx, "image"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
