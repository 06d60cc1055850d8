package execute_test

import (
	"testing"

	"github.com/talosgen/talosgen/apply/plan/plantest"
	"github.com/talosgen/talosgen/internal/hetznersim"
)

// whole is a cluster with a bit of everything.
var whole = plantest.Spec{
	Cluster: "prod", ControlPlanes: 3, API: true, Ingress: 1, FloatingIP: true, DNS: true, ReverseDNS: true, Protected: true,
	Pools: []plantest.Pool{{Name: "worker", Count: 2, Size: 1, Groups: true, Backups: true}}, Rules: 2,
}

// A second apply finds nothing to do, and takes few requests to see it.
func TestSecondApplyDoesNothing(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	p.run(infrastructure(whole), everything).mustApply()
	first := len(p.sim.Calls())
	p.sim.ResetCalls()
	p.run(infrastructure(whole), everything).mustApply()
	t.Logf("%d requests, then %d", first, len(p.sim.Calls()))
	if n := len(p.sim.Calls()); n > 20 {
		t.Errorf("%d requests:\n%s", n, p.log())
	}
}
