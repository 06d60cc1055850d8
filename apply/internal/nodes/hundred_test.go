package nodes_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/talosgen/talosgen/apply/nodeplan"
)

// hundred boots a cluster of a hundred nodes that is as the tree says.
func hundred(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	names := []string{"cp-1", "cp-2", "cp-3"}
	for i := range 97 {
		names = append(names, fmt.Sprintf("w-%d", i+1))
	}
	w.boot(names...)
	w.mustApply(nodeplan.Policy{})
	w.steps()
	w.fleet.ResetCalls()
	return w
}

// TestHundredNodes: with nothing to do, each of a hundred nodes is looked at once:
// a worker is asked for its state, its boot and its configuration, a control
// plane for what it knows of etcd besides.
func TestHundredNodes(t *testing.T) {
	w := hundred(t)
	p, err := w.plan(context.Background(), w.cluster(), nodeplan.Policy{})
	if err != nil || len(p.Steps) > 0 || len(p.Away) > 0 {
		t.Fatalf("%v, %v", p, err)
	}
	calls := map[string][]string{}
	for _, c := range w.fleet.Calls() {
		calls[c.Machine] = append(calls[c.Machine], c.Method)
	}
	for _, m := range w.machines {
		most := map[bool]int{true: 8, false: 3}[m.Role == nodeplan.ControlPlane]
		if n := len(calls[m.Name]); n == 0 || n > most {
			t.Errorf("%d calls to %s: %v", n, m.Name, calls[m.Name])
		}
	}
}

// BenchmarkHundredNodes says how long it takes to look at a hundred nodes over
// gRPC and TLS, and to find nothing to do. The nodes' side of the connections
// is in it.
func BenchmarkHundredNodes(b *testing.B) {
	w := hundred(b)
	c := w.cluster()
	for b.Loop() {
		if p, err := w.plan(context.Background(), c, nodeplan.Policy{}); err != nil || len(p.Steps) > 0 {
			b.Fatal(p, err)
		}
	}
}
