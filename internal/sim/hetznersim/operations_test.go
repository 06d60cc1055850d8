package hetznersim_test

import (
	"slices"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// walks drive the operations of a kind of resource with the official client.
var walks = []struct {
	name string
	walk func(*project)
}{
	{"catalogue", walkCatalogue},
	{"networks", walkNetworks},
	{"firewalls", walkFirewalls},
	{"groups", walkGroups},
	{"ssh keys", walkSSHKeys},
	{"servers", walkServers},
	{"images", walkImages},
	{"load balancers", walkBalancers},
	{"addresses", walkAddresses},
	{"volumes", walkVolumes},
	{"zones", walkZones},
	{"certificates", walkCertificates},
}

// TestClientDrivesEveryOperation: the official client has used each operation of
// the simulator, and understood the answers.
func TestClientDrivesEveryOperation(t *testing.T) {
	left := hetznersim.Operations()
	for _, w := range walks {
		t.Run(w.name, func(t *testing.T) {
			p := newProject(t, hetznersim.Options{})
			w.walk(p)
			for _, c := range p.sim.Calls() {
				used := hetznersim.Operation(c)
				left = slices.DeleteFunc(left, func(o string) bool { return o == used })
				if c.Status >= 500 || c.Code == "json_error" {
					t.Errorf("%s", c)
				}
			}
		})
	}
	if len(left) > 0 && !t.Failed() {
		t.Errorf("never used: %q", left)
	}
}
