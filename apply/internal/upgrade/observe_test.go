package upgrade_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/kube"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

var pair = map[string]string{"cp-1": "v1.14.0", "w-1": "v1.14.0", "w-2": "v1.14.0"}

// disturbing are the calls that something could suffer from.
var disturbing = []string{"Upgrade", "Reboot", "EtcdForfeitLeadership"}

// disturbed are the nodes that got such a call. Of Upgrade, only one that names an
// image does anything: others ask whether an installer runs.
func (w *world) disturbed() (names []string) {
	for _, m := range w.fleet.Machines() {
		if running, other := m.Systems(); other != (talossim.System{}) || running.Talos != pair[m.Name()] {
			names = append(names, m.Name())
		}
	}
	for _, c := range w.fleet.Calls() {
		if slices.Contains(disturbing[1:], c.Method) {
			names = append(names, c.Machine)
		}
	}
	return names
}

// TestRefusals: what stands against an upgrade is found by observing, and told before
// anything is disturbed.
func TestRefusals(t *testing.T) {
	only := func(name string, change func(*talossim.Spec)) func(*talossim.Spec) {
		return func(s *talossim.Spec) {
			if s.Name == name {
				change(s)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*talossim.Spec)
		harm   func(w *world)
		says   string
	}{
		{"R6: Secure Boot runs", only("w-2", func(s *talossim.Spec) { s.SecureBoot = true }), nil,
			"node w-2: R6 it runs an image for metal with Secure Boot, and Git's is for metal"},
		{"R6: Secure Boot in Git", nil, func(w *world) { w.up.Desired.Nodes[1].SecureBoot = true }, "node w-1: R6 it runs an image for metal, and Git's is for metal with Secure Boot"},
		{"R7: no room", only("w-1", func(s *talossim.Spec) { s.BootSize = 300 << 20 }), nil, "node w-1: R7 its boot partition has no room"},
		{"R7: no room for large extensions", only("w-1", func(s *talossim.Spec) { s.ImageSize = 600 << 20; s.Bootloader = talossim.GRUB }), nil, "node w-1: R7"},
		{"C-extensions", nil, func(w *world) { w.up.Desired.Nodes[0].Extensions = []string{"qemu-guest-agent"} }, "node cp-1: C-extensions"},
		{"R12: drift", nil, func(w *world) { w.drift = []string{"w-1: machine.install.extraKernelArgs"} }, "R12 w-1: machine.install.extraKernelArgs"},
		{"C-pdb", nil, func(w *world) {
			w.kube.disruption.Budgets = []kube.Budget{{Name: "shop/db", Nodes: []string{"cp-1"}, Stuck: true}}
		}, "node cp-1: C-pdb:shop/db"},
		{"C-pods", nil, func(w *world) {
			w.kube.disruption.Lone = map[string][]string{"cp-1": {"shop/bare"}}
		}, "node cp-1: C-pods:shop/bare"},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*talossim.Spec) {}
			}
			w := newWorld(t, pair, change)
			w.up.Policy.Allow = []string{upgradeplan.RiskSingle}
			if c.harm != nil {
				c.harm(w)
			}
			w.fleet.ResetCalls()
			if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
			if names := w.disturbed(); len(names) > 0 || w.kube.calls > 0 {
				t.Errorf("%v were disturbed, and there were %d changes in Kubernetes", names, w.kube.calls)
			}
		})
	}
}

// TestInvalid: Talos 1.14 does not read what an older one did.
func TestInvalid(t *testing.T) {
	w := newWorld(t, map[string]string{"cp-1": "v1.13.9", "w-1": "v1.13.9"})
	w.up.Policy.Allow = append(w.up.Policy.Allow, upgradeplan.RiskSingle)
	w.configure("w-1", "  nodeLabels: {\"no sense\": x}")
	if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), "node w-1: R8 Talos v1.14.1 would refuse its configuration: ") {
		t.Errorf("it says %v", err)
	}
	w.configure("w-1", "")
	w.must(w.run(t.Context()))
	w.done()
}

// TestBudgetAgreed: who agrees that pods end gets the upgrade. Only budgets that never
// let a pod go are passed over.
func TestBudgetAgreed(t *testing.T) {
	w := newWorld(t, pair)
	w.kube.disruption.Budgets = []kube.Budget{{Name: "shop/db", Nodes: []string{"w-2"}, Stuck: true}}
	w.up.Policy.Allow = []string{upgradeplan.RiskSingle, "C-pdb:shop/db"}
	w.must(w.run(t.Context()))
	w.done()
}

// TestAutoscaled upgrades what the autoscaler made after the workers, or leaves it.
func TestAutoscaled(t *testing.T) {
	grown := map[string]string{"cp-1": "v1.14.0", "w-1": "v1.14.0", "auto-1": "v1.14.0", "auto-2": "v1.14.0"}
	for _, way := range []upgradeplan.Autoscaled{upgradeplan.InPlace, upgradeplan.Leave} {
		t.Run("way "+string(way), func(t *testing.T) {
			w := newWorld(t, grown)
			w.up.Policy.Allow, w.up.Policy.Autoscaled = []string{upgradeplan.RiskSingle}, way
			w.must(w.run(t.Context()))
			var order []string
			for _, c := range w.fleet.Calls() {
				if c.Method == "Reboot" {
					order = append(order, c.Machine)
				}
			}
			want := []string{"cp-1", "w-1", "auto-1", "auto-2"}
			if way == upgradeplan.Leave {
				want = want[:2]
			}
			if !slices.Equal(order, want) {
				t.Errorf("the order is %v, want %v", order, want)
			}
			if way == upgradeplan.InPlace {
				w.done()
			}
		})
	}
}
