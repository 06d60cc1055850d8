package nodes_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// TestFresh takes machines from maintenance mode to a cluster; then there is
// nothing to do, which takes one look at each node.
func TestFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// TestChange: a harmless setting arrives everywhere without a reboot, one that
// needs a reboot on one control plane after the other.
func TestChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.boot("cp-1", "cp-2", "cp-3", "w-1", "w-2")
		w.mustApply(nodeplan.Policy{})
		w.kube.register("cp-1", "cp-2", "cp-3", "w-1", "w-2")
		w.steps()
		for name := range w.want {
			w.configure(name, "  logging: {destinations: [{endpoint: \"udp://192.0.2.99:514\", format: json_lines}]}")
		}
		w.mustApply(nodeplan.Policy{})
		if steps := w.steps(); strings.Count(steps, "configure") != 5 || strings.Contains(steps, "reboot") {
			t.Error(steps)
		}

		for name := range w.want {
			w.configure(name, "  env: {GREETING: hello}")
		}
		w.mustApply(nodeplan.Policy{MaxParallel: 2})
		steps := w.steps()
		if strings.Count(steps, "reboot") != 5 || strings.Count(steps, "drain") != 5 || len(w.kube.drained) > 0 {
			t.Errorf("%s, still drained: %v", steps, w.kube.drained)
		}
		if !strings.HasPrefix(steps, "health cluster, drain cp-1, stage cp-1, reboot cp-1, uncordon cp-1, health cp-1, drain cp-2") {
			t.Error(steps)
		}
	})
}

// TestModes: what needs a reboot is left, or waits for one that others make.
func TestModes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.boot("cp-1", "w-1")
		w.mustApply(nodeplan.Policy{})
		w.steps()
		before := w.fleet.Machine("w-1").Config()
		w.configure("w-1", "  env: {GREETING: hello}")
		p, err := w.apply(t.Context(), nodeplan.Policy{Mode: nodeplan.NoReboot})
		if err != nil || len(p.Warnings) != 1 || w.steps() != "" {
			t.Errorf("%v, %v", p, err)
		}
		_, err = w.apply(t.Context(), nodeplan.Policy{Mode: nodeplan.Staged})
		if steps := w.steps(); err != nil || steps != "stage w-1" || w.fleet.Machine("w-1").Config() != before {
			t.Errorf("%s, %v", steps, err)
		}
		w.fleet.Machine("w-1").PowerOff()
		w.fleet.Machine("w-1").PowerOn()
		w.pass(5 * time.Minute)
		w.mustApply(nodeplan.Policy{})
		if steps := w.steps(); steps != "" {
			t.Error(steps)
		}
	})
}

// TestGrowAndShrink adds and removes control planes and workers. What is removed
// leaves etcd before anything else, and only with consent.
func TestGrowAndShrink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.boot("cp-1", "w-1")
		w.mustApply(nodeplan.Policy{})
		w.kube.register("cp-1", "w-1")
		w.boot("cp-2", "cp-3", "w-2")
		w.steps()
		w.mustApply(nodeplan.Policy{})
		if steps := w.steps(); !strings.Contains(steps, "join cp-2, configure cp-3, join cp-3") {
			t.Error(steps)
		}
		w.kube.register("cp-2", "cp-3", "w-2")

		w.drop("cp-1", "w-1")
		if _, err := w.apply(t.Context(), nodeplan.Policy{Allow: []string{"w-1"}}); err == nil || !strings.Contains(err.Error(), "node/cp-1: removing it needs consent") {
			t.Errorf("without consent: %v", err)
		}
		w.mustApply(nodeplan.Policy{Allow: []string{"cp-1", "w-1"}})
		want := "health cluster, snapshot cp-1, drain cp-1, transfer-leadership cp-1, leave cp-1, verify cp-1, delete-node cp-1"
		if steps := w.steps(); !strings.Contains(steps, want) || !strings.Contains(steps, "drain w-1") || len(w.kube.nodes) != 3 {
			t.Errorf("%s; Kubernetes knows %v", steps, w.kube.nodes)
		}

		// Then its machine goes. One more is one too many: etcd needs both.
		w.fleet.Remove("cp-1")
		w.forget("cp-1")
		w.fleet.Machine("cp-2").PowerOff()
		w.drop("cp-3")
		if _, err := w.apply(t.Context(), nodeplan.Policy{Allow: []string{"cp-3"}}); err == nil {
			t.Error("one too many was removed")
		}
		w.check()
	})
}

// TestDead removes a control plane that is gone for good, by the id of its
// member, and another machine takes its place.
func TestDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.boot("cp-1", "cp-2", "cp-3")
		w.mustApply(nodeplan.Policy{})
		w.kube.register("cp-1", "cp-2", "cp-3")
		w.steps()
		w.fleet.Lose("cp-3")
		w.drop("cp-3")
		w.pass(time.Minute)
		w.mustApply(nodeplan.Policy{Allow: []string{"cp-3"}})
		if steps := w.steps(); steps != "health cluster, snapshot cp-3, remove-member cp-3, verify cp-3, delete-node cp-3" {
			t.Error(steps)
		}
		w.forget("cp-3")
		w.boot("cp-4")
		w.mustApply(nodeplan.Policy{})
		if steps := w.steps(); !strings.HasSuffix(steps, "join cp-4") {
			t.Error(steps)
		}
	})
}
