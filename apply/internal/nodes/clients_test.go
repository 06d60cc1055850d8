package nodes_test

import (
	"context"
	"maps"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// countedWay counts the connections to each machine, by its name.
type countedWay struct {
	world *world

	mu    sync.Mutex
	count map[string]int
}

// Dial connects.
func (c *countedWay) Dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := c.world.fleet.Dial(ctx, address)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, m := range c.world.machines {
			if host, _, _ := net.SplitHostPort(address); host == m.Address {
				c.count[m.Name]++
			}
		}
	}
	return conn, err
}

// counted lets a world count its connections from now on.
func (w *world) counted() *countedWay {
	c := &countedWay{world: w, count: map[string]int{}}
	w.way = c
	return c
}

// expect compares, and counts from 0 again.
func (c *countedWay) expect(what string, want map[string]int) {
	c.world.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !maps.Equal(c.count, want) {
		c.world.Errorf("%s: connections %v, want %v", what, c.count, want)
	}
	c.count = map[string]int{}
}

// TestFewConnections: a run connects to a node once, and once more for each boot,
// however often it looks.
func TestFewConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "cp-2", "cp-3", "w-1")
		way := w.counted()
		w.mustApply(nodeplan.Policy{})
		way.expect("nothing to do", map[string]int{"cp-1": 1, "cp-2": 1, "cp-3": 1, "w-1": 1})

		w.configure("cp-2", "  env: {GREETING: hello}")
		w.mustApply(nodeplan.Policy{})
		way.expect("a reboot", map[string]int{"cp-1": 1, "cp-2": 2, "cp-3": 1, "w-1": 1})
	})
}

// TestClients: a client is used again until its certificate was renewed, also after
// its connection broke.
func TestClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1")
		way := w.counted()
		c := w.cluster()
		defer c.Clients.Close()
		ask := func() *node.Client {
			t.Helper()
			client, err := c.Connect(w.machines[0])
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Version(t.Context())
			if node.LostAnswer(err) { // it had not noticed yet that its connection broke
				_, err = client.Version(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			return client
		}
		first := ask()
		if ask() != first {
			t.Error("another one, though nothing has happened")
		}
		way.expect("twice", map[string]int{"cp-1": 1})

		w.fleet.Machine("cp-1").PowerOff()
		w.fleet.Machine("cp-1").PowerOn()
		w.pass(5 * time.Minute)
		if ask() != first {
			t.Error("another one, though only the machine was away")
		}
		way.expect("after a boot", map[string]int{"cp-1": 1})

		w.pass(20 * time.Minute)
		if ask() != first {
			t.Error("another one, though its certificate is good for long enough")
		}
		w.pass(20 * time.Minute)
		second := ask()
		if second == first {
			t.Error("it shows a certificate that was renewed")
		}
		if _, err := first.Version(t.Context()); err != nil {
			t.Errorf("who still uses the other one: %v", err)
		}
		way.expect("with a new certificate", map[string]int{"cp-1": 1})

		c.Clients.Close()
		for _, client := range []*node.Client{first, second} {
			if _, err := client.Version(t.Context()); err == nil {
				t.Error("it is not closed")
			}
		}
	})
}
