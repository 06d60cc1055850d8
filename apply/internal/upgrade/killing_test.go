package upgrade_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// killing ends runs before and after their calls, each in a world of its own: the next
// run ends with what is desired, and nothing that must never happen does.
type killing struct {
	world func(t *testing.T) *world
	// From one call to the next that is tried, and of which method of nodes; empty: any.
	step   int
	method string
	// What must be so after the next run.
	ended func(w *world)
}

// atNodes ends runs at calls to nodes.
func (k killing) atNodes(t *testing.T) {
	k.each(t, func(w *world, call int, after bool, kill func()) {
		w.fleet.ResetCalls()
		fault := talossim.Fault{Call: call, After: after, As: talossim.Drop(), Then: kill}
		if k.method != "" {
			fault.Method, fault.Skip, fault.Call = k.method, call-1, 0
		}
		w.fleet.Inject(fault)
	}, true)
}

// atKubernetes ends runs at changes in Kubernetes. A run may be over when its last answer
// comes.
func (k killing) atKubernetes(t *testing.T) {
	k.each(t, func(w *world, call int, after bool, kill func()) {
		w.kube.strike = func(made int, then bool) {
			if made == call && then == after {
				kill()
			}
		}
	}, false)
}

// each arms a run for each call, until there are no more calls.
func (k killing) each(t *testing.T, arm func(w *world, call int, after bool, kill func()), fails bool) {
	calls := 0
	for call, struck := 1, true; struck; call += k.step {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint("call ", call, " after ", after), func(t *testing.T) {
				w := k.world(t)
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				struck = false
				arm(w, call, after, func() { struck = true; kill() })
				if err := w.run(ctx); fails && struck && err == nil {
					t.Error("it was killed, and says that it is done")
				}
				w.kube.strike = nil
				w.check()
				w.must(w.run(t.Context()))
				k.ended(w)
			})
			calls += map[bool]int{true: 1}[struck]
		}
	}
	if calls < 4 {
		t.Errorf("only %d runs were killed", calls)
	}
}
