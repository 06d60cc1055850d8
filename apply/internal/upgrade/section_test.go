package upgrade_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// started is the configuration of a node whose API server is started with some gates.
func (w *world) started(name, version, gates string) string {
	return strings.Replace(w.config(name, version), "  apiServer: {", "  apiServer: {extraArgs: {feature-gates: \""+gates+"\"}, ", 1)
}

// TestSectionMoves: what an API server is started with moves with its image, in one
// configuration, when it gets the version that Git has, and not at a hop before.
func TestSectionMoves(t *testing.T) {
	w := newKubeWorld(t, "1.35.4", "1.37.1", three)
	const gates = "SomeGate=true"
	w.up.Git = func(name string) (*nodeconfig.Config, error) {
		return nodeconfig.Parse(name, []byte(w.started(name, "1.37.1", gates)))
	}
	sent := 0
	w.called = func(c talossim.Call) {
		if c.Method != "ApplyConfiguration" {
			return
		}
		sent++
		for _, m := range w.fleet.Machines() {
			if text := m.Config(); strings.Contains(text, gates) != strings.Contains(text, "kube-apiserver:v1.37.1") && role(m.Name()) == upgradeplan.ControlPlane {
				t.Errorf("%s has the one without the other:\n%s", m.Name(), text)
			}
		}
	}
	w.must(w.run(t.Context()))
	w.check()
	if want := 2 * (3*5 + 3); sent != want {
		t.Errorf("%d configurations were sent, not %d", sent, want)
	}
	for _, m := range w.fleet.Machines() {
		want, err := nodeconfig.Parse(m.Name(), []byte(w.started(m.Name(), "1.37.1", gates)))
		w.must(err)
		got, err := nodeconfig.Parse(m.Name(), []byte(m.Config()))
		w.must(err)
		if d, err := nodeconfig.Compare(got, want, nodeconfig.Running{}); err != nil || len(d.Changes)+len(d.Held) > 0 {
			t.Errorf("%s differs: %v, %v", m.Name(), d, err)
		}
	}
	w.nothing()
}

// TestArgumentsRefused: what the next version does not know is refused before anything is
// disturbed, also if Git's last version would have it no more.
func TestArgumentsRefused(t *testing.T) {
	for gates, says := range map[string]string{
		"MemoryManager=true":      "R10 cluster.apiServer.extraArgs.feature-gates: Kubernetes 1.36 has no feature gate MemoryManager of kube-apiserver: it ended with 1.36",
		"SidecarContainers=false": "", // it ends with 1.37, where Git has it no more
	} {
		w := newKubeWorld(t, "1.35.4", "1.37.1", three)
		for _, name := range []string{"cp-1", "cp-2", "cp-3"} {
			_, err := w.admin(name).Apply(t.Context(), secret.New(w.started(name, "1.35.4", gates)), node.NoReboot)
			w.must(err)
		}
		w.pass(long)
		err := w.run(t.Context())
		switch {
		case says == "" && err != nil:
			t.Errorf("%s: %v", gates, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says) || len(w.applied()) > 0):
			t.Errorf("%s: %v, %v", gates, err, w.applied())
		}
	}
}
