package upgrade_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// newMove is a cluster with a version of Talos, and Git with the documents of 1.14: the
// consent is to what a kubelet has there by default.
func newMove(t *testing.T, talos string) *world {
	nodes := map[string]string{}
	for name := range three {
		nodes[name] = talos
	}
	w := newMixedKubeWorld(t, func(string) string { return "1.35.4" }, "1.35.4", nodes)
	w.moves("1.35.4")
	w.up.Policy.MaxParallel = 1
	w.up.Policy.Allow = append(w.up.Policy.Allow, upgradeplan.RiskContract)
	return w
}

// moved wants all nodes to have Git's configurations.
func (w *world) moved() {
	w.Helper()
	w.done()
	for _, m := range w.fleet.Machines() {
		if m.Config() != w.documents(m.Name(), "1.35.4") {
			w.Errorf("%s has another configuration:\n%s", m.Name(), m.Config())
		}
	}
}

// TestContract moves nodes to the documents of Talos 1.14 when all of them read these:
// control planes first, one at a time.
func TestContract(t *testing.T) {
	w := newMove(t, "v1.13.9")
	w.must(w.run(t.Context()))
	w.moved()
	got := w.began("contract ")
	slices.Sort(got[:min(3, len(got))]) // who leads etcd is the last of these
	if !slices.Equal(got, []string{"contract cp-1", "contract cp-2", "contract cp-3", "contract w-1", "contract w-2", "contract w-3"}) {
		t.Errorf("the order is %v", got)
	}
	w.nothing()
}

// TestContractNotice: each control plane that moves has its half minute to notice it, and a
// simulated one a moment.
func TestContractNotice(t *testing.T) {
	took := func(simulated bool) time.Duration {
		w := newMove(t, "v1.14.0")
		if simulated {
			w.up.Patience = w.up.Patience.Simulated()
		}
		began := w.fleet.Clock().Now()
		w.must(w.run(t.Context()))
		w.moved()
		return w.fleet.Clock().Now().Sub(began)
	}
	const controlPlanes, least = 3, 25 * time.Second
	if real, simulated := took(false), took(true); real-simulated < controlPlanes*least {
		t.Errorf("real nodes take %s, and simulated ones %s", real, simulated)
	}
}

// TestContractKilled ends a run before and after each configuration that is sent.
func TestContractKilled(t *testing.T) {
	killing{world: func(t *testing.T) *world { return newMove(t, "v1.14.0") }, step: 1 + stride()/80, method: "ApplyConfiguration", ended: (*world).moved}.atNodes(t)
}

// TestContractStops: what Git's configuration changes besides takes consent, and what a
// node must keep is refused. No node has moved then.
func TestContractStops(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(w *world)
		says string
	}{
		{"no consent", func(w *world) { w.up.Policy.Allow = w.up.Policy.Allow[:2] }, "C-contract the configuration in Git's contract has other values as well: K8sKubeletConfig.DisableManifestsDirectory"},
		{"another name", func(w *world) {
			git := w.up.Git
			w.up.Git = func(name string) (*nodeconfig.Config, error) {
				if name == "w-1" {
					name = "w-4"
				}
				return git(name)
			}
		}, "node w-1: R8 its configuration in the contract v1.14 would change NetworkHostnameConfig.Hostname"},
		{"not for Talos", func(w *world) {
			w.more = map[string]string{"w-2": "---\napiVersion: v1alpha1\nkind: SysctlConfig\nnonsense: {}\n"}
		}, "Talos cannot read it"},
		{"Talos of a node that is away", func(w *world) { w.fleet.Machine("w-3").Cut() }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newMove(t, "v1.13.9")
			w.up.Policy.Allow = append(w.up.Policy.Allow, upgradeplan.RiskNoReturn)
			c.harm(w)
			if err := w.run(t.Context()); fmt.Sprint(err) == "" || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("it says %v", err)
			}
			w.check()
			if got := w.began("contract "); len(got) > 0 {
				t.Errorf("begun: %v", got)
			}
		})
	}
}

// TestContractOfWorkers: what only control planes ask for changes nothing on a worker, and
// takes no consent there.
func TestContractOfWorkers(t *testing.T) {
	said := func(node, kind string) string {
		w := newMove(t, "v1.14.0")
		w.more = map[string]string{node: "---\napiVersion: v1alpha1\nkind: " + kind + "\nenabled: false\n"}
		p, err := w.up.Plan(t.Context())
		w.must(err)
		return fmt.Sprint(p.Risks)
	}
	for kind, place := range map[string]string{"KubeProxyConfig": "K8sProxyConfig", "KubeCoreDNSConfig": "K8sCoreDNSConfig"} {
		if text := said("w-2", kind); !strings.Contains(text, upgradeplan.RiskContract) || strings.Contains(text, place) {
			t.Errorf("of a worker it says %s", text)
		}
	}
	if text := said("cp-2", "KubeCoreDNSConfig"); !strings.Contains(text, "K8sCoreDNSConfig.Enabled") {
		t.Errorf("of a control plane it says %s", text)
	}
}
