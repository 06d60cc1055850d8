package talossim_test

import "testing"

// TestJoinToken: a kubelet joins with a bootstrap token that a control plane has, or had:
// it makes a Secret of each, and removes none.
func TestJoinToken(t *testing.T) {
	w := newWorld(t)
	const before, now, unknown = "aaaaaa.aaaaaaaaaaaaaaaa", "bbbbbb.bbbbbbbbbbbbbbbb", "cccccc.cccccccccccccccc"
	w.cluster.Join(before)
	w.bootstrap("cp-1")
	w.cluster.Join(now)
	w.configure("cp-1", w.cluster.ControlPlane("cp-1"))
	for name, token := range map[string]string{"worker-before": before, "worker-now": now, "worker-unknown": unknown} {
		w.add(name)
		w.cluster.Join(token)
		w.apply(name, w.cluster.Worker(name))
	}
	w.pass(long)
	expect(t, "joined", w.readiness("cp-1"), "cp-1=True worker-before=True worker-now=True")
	w.sound()
}
