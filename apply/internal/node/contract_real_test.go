//go:build linux

package node_test

import (
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// TestContractReal holds real nodes to the table that simulated ones are held
// to: where they differ, the table is wrong, and with it the simulator.
func TestContractReal(t *testing.T) {
	for _, release := range []string{"1.13", "1.14"} {
		t.Run(release, func(t *testing.T) {
			cluster := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Workers: 1, Talos: release})
			repository := cluster.NewRepository(t)
			of := func(n *talosenv.Node) parts {
				return parts{node.Target{Name: n.Name, Address: n.Address.String()}, secret.New(string(repository.MachineConfig(n)))}
			}
			s := &subject{t: t, clock: realClock, controlPlane: of(cluster.ControlPlanes[0]), worker: of(cluster.Workers[0])}
			credentials := signed(t, s.controlPlane.config, time.Hour)
			kept := func(c *node.Client, err error) *node.Client {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				return c
			}
			s.plain = func(p parts) *node.Client { return kept(node.Maintenance(p.target, reach.Direct{}, "")) }
			s.connect = func(p parts) *node.Client { return kept(node.Connect(p.target, reach.Direct{}, credentials, time.Now)) }
			s.contract()
		})
	}
}
