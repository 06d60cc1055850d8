package nodes_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/nodeplan"
)

// TestFresh takes machines from maintenance mode to a cluster; then there is
// nothing to do, which takes one look at each node.
func TestFresh(t *testing.T) {
	w := newWorld(t)
	w.boot("cp-1", "cp-2", "cp-3", "w-1", "w-2")
	w.mustApply(nodeplan.Policy{})
	if steps := w.steps(); !strings.HasSuffix(steps, "bootstrap etcd") || strings.Count(steps, "configure") != 5 {
		t.Error(steps)
	}
	if i := w.intents.intent; i.Node != "cp-1" || !i.Done {
		t.Errorf("the intent is %+v", i)
	}
	w.fleet.ResetCalls()
	w.mustApply(nodeplan.Policy{})
	calls := map[string]int{}
	for _, c := range w.fleet.Calls() {
		calls[c.Machine]++
	}
	for name, n := range calls {
		if most := map[bool]int{true: 8, false: 3}[role(name) == nodeplan.ControlPlane]; n > most {
			t.Errorf("%d calls to %s", n, name)
		}
	}
	if steps := w.steps(); steps != "" {
		t.Error(steps)
	}
}
