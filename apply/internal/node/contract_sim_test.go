package node_test

import (
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestContractSimulated holds simulated nodes to what real ones do.
func TestContractSimulated(t *testing.T) {
	for _, talos := range []string{"v1.13.9", "v1.14.1"} {
		t.Run(talos, func(t *testing.T) {
			s := simulate(t)
			s.start(talossim.Spec{Name: "cp-1", Public: []string{"192.0.2.1"}, Talos: talos, Installed: true})
			s.start(talossim.Spec{Name: "worker-1", Public: []string{"192.0.2.2"}, Talos: talos, Installed: true})
			(&subject{
				t: t, clock: s.fleet.Clock(),
				controlPlane: parts{node.Target{Name: "cp-1", Address: "192.0.2.1"}, secret.New(s.cluster.ControlPlane("cp-1"))},
				worker:       parts{node.Target{Name: "worker-1", Address: "192.0.2.2"}, secret.New(s.cluster.Worker("worker-1"))},
				plain:        func(p parts) *node.Client { return s.maintenance(p.target.Name, p.target.Address) },
				connect:      func(p parts) *node.Client { return s.client(p.target.Name, p.target.Address) },
			}).contract()
		})
	}
}
