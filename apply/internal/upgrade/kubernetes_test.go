package upgrade_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/kube"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestKubernetes takes a cluster over one minor and over two: the programs of the control
// plane one after the other, each on one node at a time, then kubelets.
func TestKubernetes(t *testing.T) {
	hop := strings.Split("kube-apiserver cp-2,kube-apiserver cp-3,kube-apiserver cp-1,kube-controller-manager cp-2,kube-controller-manager cp-3,kube-controller-manager cp-1,"+
		"kube-scheduler cp-2,kube-scheduler cp-3,kube-scheduler cp-1,kube-proxy cp-2,kube-proxy cp-3,kube-proxy cp-1,kubelet cp-2,kubelet cp-3,kubelet cp-1,kubelet w-1,kubelet w-2,kubelet w-3", ",")
	for to, hops := range map[string]int{"1.35.6": 1, "1.36.3": 1, "1.37.1": 2} {
		t.Run(to, func(t *testing.T) {
			w := newKubeWorld(t, "1.35.4", to, three)
			w.up.Policy.MaxParallel = 1
			w.must(w.run(t.Context()))
			w.upgraded(to)
			want := slices.Repeat(hop, hops)
			if got := w.applied(); !slices.Equal(got, want) {
				t.Errorf("the order is %v\nwant %v", got, want)
			}
			if w.saved != hops {
				t.Errorf("etcd was saved %d times, not once for each hop", w.saved)
			}
			if got := w.began("manifests "); len(got) != hops || !strings.HasPrefix(w.told[len(w.told)-1], "manifests cluster: DaemonSet") {
				t.Errorf("Talos' objects: %v, and then %s", got, w.told[len(w.told)-1])
			}
			if drained := w.began("drain "); len(drained) != 6*hops && to != "1.35.6" || to == "1.35.6" && len(drained) > 0 {
				t.Errorf("drained: %v", drained)
			}
			w.nothing()
		})
	}
}

// TestKubernetesKilled ends a run before and after calls to nodes, at night each 26th: the
// next one ends with what is desired.
func TestKubernetesKilled(t *testing.T) {
	killing{world: func(t *testing.T) *world { return newKubeWorld(t, "1.35.4", "1.37.1", three) }, step: 1 + stride(), ended: func(w *world) { w.upgraded("1.37.1") }}.atNodes(t)
}

// TestApplyKilled is the same for every configuration that is sent.
func TestApplyKilled(t *testing.T) {
	killing{world: func(t *testing.T) *world { return newKubeWorld(t, "1.35.4", "1.36.3", three) }, step: 1 + stride()/40, method: "ApplyConfiguration", ended: func(w *world) { w.upgraded("1.36.3") }}.atNodes(t)
}

// TestKubernetesKilledAtKubernetes is the same for changes in Kubernetes.
func TestKubernetesKilledAtKubernetes(t *testing.T) {
	killing{world: func(t *testing.T) *world { return newKubeWorld(t, "1.35.4", "1.36.3", three) }, step: 1 + stride()/60, ended: func(w *world) { w.upgraded("1.36.3") }}.atKubernetes(t)
}

// TestKubernetesStops has what ends an upgrade, what was configured until then, and how it
// goes on.
func TestKubernetesStops(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(w *world)
		says string
		done int // configurations that were sent
		mend func(w *world)
	}{
		{"an API server does not start", func(w *world) { w.fleet.Machine("cp-2").Crash("v1.36.3") },
			"node cp-2: kube-apiserver does not run", 1, func(w *world) { w.fleet.Machine("cp-2").Mend() }},
		{"a kubelet does not start", func(w *world) { w.fleet.Machine("w-1").Crash("v1.36.3") },
			"node w-1: ", 16, func(w *world) { w.fleet.Machine("w-1").Mend() }},
		{"a control plane is away", func(w *world) { w.fleet.Machine("cp-3").Cut() }, "R11", 0, func(w *world) { w.fleet.Machine("cp-3").Heal() }},
		{"a budget", func(w *world) { w.kube.stuck = "cp-2" }, "a budget", 12, func(w *world) { w.kube.stuck = "" }},
		{"objects do not run", func(w *world) { w.kube.unready = []string{"DaemonSet.apps/kube-system/kube-proxy: 1 of 6"} },
			"objects of Talos: not ready within 15m0s: DaemonSet.apps/kube-system/kube-proxy: 1 of 6", 18, func(w *world) { w.kube.unready = nil }},
		{"no image in Git", func(w *world) { delete(w.up.Desired.Nodes[4].Images, "kubelet") }, "node w-2: Git's configuration names no image of kubelet", 0, func(w *world) { w.want("1.36.3") }},
		{"stored objects that end", func(w *world) {
			w.kube.uses = []kube.Use{{What: "certificates.k8s.io/v1alpha1 ClusterTrustBundle", Owner: "example.com", In: "1.36.0", Stored: true}}
		}, "R10 certificates.k8s.io/v1alpha1 ClusterTrustBundle of example.com: Kubernetes 1.36.0 does not have it any more", 0, func(w *world) { w.kube.uses = nil }},
		{"clients of what ends", func(w *world) {
			w.kube.uses = []kube.Use{{What: "networking.k8s.io/v1beta1 IPAddress", Owner: "Kustomization flux-system/apps", In: "1.36.0"}, {What: "later", Owner: "x", In: "1.37.0"}}
		}, "C-removed clients use API versions that the new Kubernetes does not have: networking.k8s.io/v1beta1 IPAddress of Kustomization flux-system/apps\n", 0, func(w *world) { w.up.Policy.Allow = append(w.up.Policy.Allow, upgradeplan.RiskRemoved) }},
		{"a minor back", func(w *world) { w.want("1.34.1") }, "R1 the cluster runs 1.35.4, and Git has the older 1.34.1", 0, func(w *world) { w.want("1.36.3") }},
		{"the registry does not have it", func(w *world) {
			w.fleet.Inject(talossim.Fault{Machine: "w-3", Method: "Pull", Times: -1, As: talossim.Status(codes.NotFound, "not found")})
		}, "node w-3: pull an image", 0, func(w *world) { w.fleet.ClearFaults() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newKubeWorld(t, "1.35.4", "1.36.3", three)
			w.up.Policy.MaxParallel = 1
			c.harm(w)
			if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
			w.check()
			if done := w.applied(); len(done) != c.done {
				t.Errorf("configured: %v", done)
			}
			c.mend(w)
			w.pass(long)
			w.must(w.run(t.Context()))
			w.upgraded("1.36.3")
		})
	}
}

// TestBothAtOnce: workers that are due for Talos and for Kubernetes are drained once, and
// end with both.
func TestBothAtOnce(t *testing.T) {
	w := newKubeWorld(t, "1.35.4", "1.36.3", map[string]string{"cp-1": "v1.14.0", "w-1": "v1.14.0", "w-2": "v1.14.0", "auto-1": "v1.14.0"})
	w.up.Policy.Component, w.up.Policy.MaxParallel = upgradeplan.Everything, 1
	w.must(w.run(t.Context()))
	w.upgraded("1.36.3")
	w.done()
	if got := w.began("drain "); !slices.Equal(got, []string{"drain cp-1", "drain cp-1", "drain w-1", "drain w-2", "drain auto-1"}) {
		t.Errorf("drained: %v", got)
	}
	w.nothing()
}

// nothing wants one more run to change nothing.
func (w *world) nothing() {
	w.Helper()
	before := w.kube.calls
	w.fleet.ResetCalls()
	w.must(w.run(w.Context()))
	if w.kube.calls != before || len(w.fleet.Calls()) == 0 {
		w.Errorf("the next run makes %d changes in Kubernetes and %d calls", w.kube.calls-before, len(w.fleet.Calls()))
	}
	for _, c := range w.fleet.Calls() {
		if slices.Contains([]string{"Reboot", "Pull", "ImagePull", "EtcdForfeitLeadership", "ApplyConfiguration"}, c.Method) {
			w.Errorf("the next run calls %s of %s", c.Method, c.Machine)
		}
	}
}
